#!/bin/sh
# Of the stand-in for the image `nginx`: what that image's own does with templates, and nothing else.
set -eu
variables=$(env | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/${\1}/p' | tr '\n' ' ')
for template in /etc/nginx/templates/*.template; do
  [ -f "$template" ] || continue
  name=${template##*/}
  envsubst "$variables" <"$template" >"/etc/nginx/conf.d/${name%.template}"
done
exec "$@"
