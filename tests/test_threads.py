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


def test_blas_is_restored_whatever_the_order_and_the_thread_of_leaving():
    from threadpoolctl import threadpool_info

    def in_a_thread(work):
        with ThreadPoolExecutor(1) as pool:
            pool.submit(work).result()

    def counts():
        return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

    with threads.one_blas_thread():
        pass  # every BLAS is loaded now
    before = counts()
    first, second = threads.one_blas_thread(), threads.one_blas_thread()
    in_a_thread(first.__enter__)
    second.__enter__()
    in_a_thread(lambda: first.__exit__(None, None, None))
    assert set(counts()) == {1}
    in_a_thread(lambda: second.__exit__(None, None, None))
    assert counts() == before
