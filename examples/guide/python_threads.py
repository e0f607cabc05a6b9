# Checksums of 64 blocks on two Python threads. Kilter says how to divide them.
import ctypes
import threading
import zlib

kilter = ctypes.CDLL("libkilter.so.0")
kilter.kilter_last_error.restype = ctypes.c_char_p
pool, region = ctypes.c_void_p(), ctypes.c_void_p()
blocks, sums = [bytes(1 << 20)] * 64, [0] * 64
begins, size = (ctypes.c_size_t * 3)(), ctypes.c_size_t


def ok(status):
    if status != 0:
        raise RuntimeError(kilter.kilter_last_error().decode())


def work(t):
    ok(kilter.kilter_region_begin(region, size(t)))
    for i in range(begins[t], begins[t + 1]):
        sums[i] = zlib.crc32(blocks[i])
    ok(kilter.kilter_region_end(region, size(t), size(begins[t + 1] - begins[t])))


ok(kilter.kilter_pool_create(size(2), ctypes.byref(pool)))
ok(kilter.kilter_pool_region(pool, b"checksums", ctypes.byref(region)))
for _ in range(10):
    ok(kilter.kilter_region_shares(region, size(64), begins, size(3)))
    threads = [threading.Thread(target=work, args=[t]) for t in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
ok(kilter.kilter_pool_destroy(pool))
assert sums == [zlib.crc32(blocks[0])] * 64
