"""One BLAS thread for as long as anyone asks for it."""

from concurrent.futures import ThreadPoolExecutor

from infoplane import threads


def test_one_blas_thread_is_counted():
    from threadpoolctl import threadpool_info

    def most():
        return max((one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"), default=1)

    before = most()
    with threads.one_blas_thread(), ThreadPoolExecutor(2) as pool:
        with threads.one_blas_thread():
            assert most() == 1
        list(pool.map(abs, range(4)))
        assert most() == 1
    assert most() == before
