#!/bin/sh
# Starts Grafana so that dashboards and alert rules share one folder, under the uid that the dashboards name.
#
# Grafana provisions alerting before dashboards. A rule file names its folder by title only, so Grafana creates it
# under a random uid, and the dashboards' folder becomes a second one of the same title (grafana/grafana#125079).
# Therefore the first start leaves alerting out until the dashboards' folder exists, and loads it then. Later
# starts find the folder by its title.
set -eu

alerting=${GATEWATCH_ALERTING_FILES:-/etc/gatewatch/alerting}
provisioned=${GF_PATHS_PROVISIONING:-/etc/grafana/provisioning}/alerting
# Lies beside Grafana's database: a new database has no folder yet.
marker=${GF_PATHS_DATA:-/var/lib/grafana}/gatewatch-folder
url=${GATEWATCH_GRAFANA_URL:-http://127.0.0.1:3000}
folder=gatewatch

add_files() {
  find -L "$alerting" -name '*.yaml' -exec cp {} "$provisioned/" \;
}

# The password goes to curl's standard input: arguments can be read by every process.
ask() {
  printf 'user = "%s:%s"\n' "${GF_SECURITY_ADMIN_USER:-admin}" "$GF_SECURITY_ADMIN_PASSWORD" |
    curl --silent --fail --output /dev/null --max-time 30 --config - --request "$1" "$url$2"
}

load_when_folder_exists() {
  tries=0
  until ask GET "/api/folders/$folder"; do
    tries=$((tries + 1))
    if [ "$tries" -ge "${GATEWATCH_FOLDER_TRIES:-300}" ]; then
      echo "gatewatch: the folder $folder of the dashboards does not appear; the alert rules are not loaded" >&2
      return 1
    fi
    sleep 1
  done
  add_files
  if ask POST /api/admin/provisioning/alerting/reload; then
    : > "$marker"
  else
    echo 'gatewatch: Grafana did not load the alert rules; its log says why' >&2
    return 1
  fi
}

if [ -e "$marker" ]; then
  add_files
else
  load_when_folder_exists &
fi
[ "$#" -gt 0 ] || set -- /run.sh
exec "$@"
