import { writeRelease } from "./release-dir.ts";

/** Returns a script of the job that appends a line to a file on the persistent disk. */
const note = (what: string) =>
  `#!/bin/bash\nmkdir -p /var/vcap/store/counter\necho "${what}" >> /var/vcap/store/counter/log\n`;

const FILES: Readonly<Record<string, string>> = {
  "config/final.yml": "name: app\n",
  "config/blobs.yml": "--- {}\n",
  "src/greeting/text": "from a package\n",
  "packages/base/spec": "---\nname: base\nfiles: []\n",
  "packages/base/packaging": 'echo base > "$BOSH_INSTALL_TARGET/base"\n',
  "packages/greeting/spec": "---\nname: greeting\ndependencies: [base]\nfiles: [greeting/*]\n",
  "packages/greeting/packaging":
    'set -e\ntest "$(cat /var/vcap/packages/base/base)" = base\ncp greeting/text "$BOSH_INSTALL_TARGET"\n',
  "jobs/counter/spec": `---
name: counter
templates:
  ctl: bin/ctl
  pre-start: bin/pre-start
  post-start: bin/post-start
  pre-stop: bin/pre-stop
  drain: bin/drain
  post-stop: bin/post-stop
  counter.yml.erb: config/counter.yml
packages: [greeting]
properties:
  greeting: {default: hi}
`,
  "jobs/counter/monit": `check process counter
  with pidfile /var/vcap/sys/run/counter/counter.pid
  start program "/var/vcap/jobs/counter/bin/ctl start"
  stop program "/var/vcap/jobs/counter/bin/ctl stop"
  group vcap
`,
  "jobs/counter/templates/ctl": `${note("ctl $1")}
pidfile=/var/vcap/sys/run/counter/counter.pid
case $1 in
start)
  cat /var/vcap/packages/greeting/text /var/vcap/jobs/counter/config/counter.yml >> /var/vcap/store/counter/log
  sleep 100000 < /dev/null > /dev/null 2>&1 &
  echo $! > "$pidfile" ;;
stop)
  kill "$(cat "$pidfile")"
  rm -f "$pidfile" ;;
esac
`,
  "jobs/counter/templates/pre-start": note("pre-start"),
  "jobs/counter/templates/post-start": note("post-start"),
  "jobs/counter/templates/pre-stop": note("pre-stop"),
  "jobs/counter/templates/drain": `${note("drain")}echo 0\n`,
  "jobs/counter/templates/post-stop": note("post-stop"),
  "jobs/counter/templates/counter.yml.erb": 'greeting: <%= p("greeting") %>\n',
};

/** Lines that the job writes each time it is started. */
export const startLines = (greeting: string): readonly string[] => [
  "pre-start",
  "ctl start",
  "from a package",
  `greeting: ${greeting}`,
  "post-start",
];
export const STOP_LINES: readonly string[] = ["pre-stop", "drain", "ctl stop", "post-stop"];

/** A release directory as an author has it: two packages, one needs the other, and a job that notes what happens to it. */
export const writeAppRelease = (dir: string): Promise<void> => writeRelease(dir, FILES);
