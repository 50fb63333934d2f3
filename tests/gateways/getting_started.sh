# What a machine has before somebody gets started, in namespaces of its own, so that usual ports and folders are free.
# The commands of docs/getting-started.md follow.
set -euo pipefail
ip link set lo up
mkdir etc log
cp -a /etc/nginx/. etc/
rm -f etc/sites-enabled/default etc/conf.d/*.conf
mount --bind etc /etc/nginx
mount --bind log /var/log/nginx
mount -t tmpfs tmpfs /run
redis-server --save '' >redis.log 2>&1 &
nginx
# listens PORT: waits until somebody does.
listens() { until (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; do sleep 0.1; done; }
listens 6379
