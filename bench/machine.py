"""What a benchmark ran on, in a line."""

import os
import time


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        cpu = [x.split(": ")[1].strip() for x in f if x.startswith("model name")][0]
    with open("/etc/os-release", encoding="utf-8") as f:
        system = [x.split("=")[1].strip().strip('"') for x in f if x.startswith("PRETTY_NAME")][0]
    return "%d cores of %s, %s, %s, load %.2f when it began" % (
        os.cpu_count(), cpu, system, time.strftime("%Y-%m-%d"), os.getloadavg()[0])
