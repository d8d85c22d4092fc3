#!/bin/sh
# A full disk stops a crawl cleanly, with 3; once there is room again it goes
# on, and nothing is lost. --min-disk stops it before. Needs root, for a small
# file system of its own.
set -eu
. "$TOP/tests/cli/lib.sh"

[ "$(id -u)" = 0 ] || skip "needs root to mount a small tmpfs"
mkdir disk
mount -t tmpfs -o size=3m urlweir-test disk 2>mount.err ||
    skip "cannot mount a tmpfs: $(cat mount.err)"
at_exit="$at_exit; umount -l '$WORK/disk'"

serve --hosts 20 --pages 4000 --size 1000 --seed 71

# ---- it runs full --------------------------------------------------------------

crawl disk/d -c 16
ended 3 "on a disk of 3 MB"
says crawl.err "stopped: no space left on the disk"
lacks crawl.err "min-disk" "that was not asked for"
runs=1
# What it left on the full disk is whole.
exits 0 "$URLWEIR" status disk/d
is_whole disk/d "on the full disk"
# Without more room it stops again, or gets a little further.
resume disk/d
ended 3 "still full"
runs=$((runs + 1))
for size in 4m 5m 40m; do
    mount -o remount,size=$size disk
    resume disk/d
    runs=$((runs + 1))
    [ "$status" = 0 ] || ended 3 "with $size"
done
ended 0 "with room"
serve_no_more
# Each time, what was acknowledged but could not be committed is asked again.
judge --kills $runs --in-flight 16
echo "$runs runs, $(sed -n 's/^duplicate //p' check.out) pages asked again"
agrees disk/d

# ---- --min-disk --------------------------------------------------------------------

serve --hosts 20 --pages 4000 --size 1000 --latency 20 --seed 72
crawl disk/min --min-disk 1G
ended 3
says crawl.err "stopped by --min-disk"
exits 0 "$URLWEIR" verify disk/min
# It is looked at while the crawl runs, too.
free=$(($(stat -f -c '%a * %S' disk) / 1024))
resume disk/min --min-disk $((free - 1000))K
ended 3
[ "$(($(stat -f -c '%a * %S' disk) / 1024))" -gt $((free - 8000)) ] ||
    fail "it stopped too late"
resume disk/min --min-disk 0
ended 0
serve_no_more
judge
agrees disk/min
