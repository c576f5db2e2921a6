/** A release with an errand and with a job that runs all the time; both write logs. */
export const ERRAND_RELEASE: Readonly<Record<string, string>> = {
  "config/final.yml": "name: checks\n",
  "config/blobs.yml": "--- {}\n",
  "jobs/smoke/spec": `---
name: smoke
templates:
  run: bin/run
packages: []
properties:
  says: {default: all is well}
  code: {default: 0}
  waits: {default: false}
`,
  "jobs/smoke/monit": "",
  "jobs/smoke/templates/run": `#!/bin/bash
echo "<%= p("says") %>"
echo "from <%= spec.name %>/<%= spec.index %>" >&2
mkdir -p /var/vcap/sys/log/smoke
echo "ran" >> /var/vcap/sys/log/smoke/smoke.log
<% if p("waits") %>
touch /var/vcap/sys/log/smoke/waits
while true; do sleep 1; done
<% end %>
exit <%= p("code") %>
`,
  "jobs/talker/spec": "---\nname: talker\ntemplates:\n  ctl: bin/ctl\npackages: []\nproperties: {}\n",
  "jobs/talker/monit": `check process talker
  with pidfile /var/vcap/sys/run/talker/talker.pid
  start program "/var/vcap/jobs/talker/bin/ctl start"
  stop program "/var/vcap/jobs/talker/bin/ctl stop"
  group vcap
`,
  "jobs/talker/templates/ctl": `#!/bin/bash
log=/var/vcap/sys/log/talker
pidfile=/var/vcap/sys/run/talker/talker.pid
mkdir -p "$log"
echo "talker $1" >> "$log/talker.log"
echo "nothing wrong" >> "$log/talker.err.log"
case $1 in
start)
  sleep 100000 < /dev/null > /dev/null 2>&1 &
  echo $! > "$pidfile" ;;
stop)
  kill "$(cat "$pidfile")"
  rm -f "$pidfile" ;;
esac
`,
};
