import type { MadeRelease } from "@slipway/testkit/release-tarball";

const note = (what: string) => `#!/bin/bash\necho "${what}" >> /var/vcap/store/log\n`;

/** Two packages, one compiled with the other, and a job that notes on its disk what happens to it. */
export const RELEASE: MadeRelease = {
  name: "app",
  version: "1",
  packages: {
    base: { files: { packaging: 'echo base > "$BOSH_INSTALL_TARGET/base"\n' } },
    greeting: {
      dependencies: ["base"],
      files: {
        packaging:
          'set -e\ntest "$(cat /var/vcap/packages/base/base)" = base\ncp text "$BOSH_INSTALL_TARGET"\n',
        text: "from a package\n",
      },
    },
  },
  jobs: {
    counter: {
      spec: {
        templates: {
          ctl: "bin/ctl",
          "pre-start": "bin/pre-start",
          "post-start": "bin/post-start",
          drain: "bin/drain",
          "counter.yml.erb": "config/counter.yml",
        },
        packages: ["greeting"],
        properties: { greeting: { default: "hi" }, port: {} },
      },
      monit: `check process counter
  with pidfile /var/vcap/sys/run/counter/pid
  start program "/var/vcap/jobs/counter/bin/ctl start"
  stop program "/var/vcap/jobs/counter/bin/ctl stop"
  group vcap
`,
      templates: {
        ctl: `${note("ctl $1")}
case $1 in
start)
  cat /var/vcap/packages/greeting/text /var/vcap/jobs/counter/config/counter.yml >> /var/vcap/store/log
  sleep 100000 < /dev/null > /dev/null 2>&1 &
  echo $! > /var/vcap/sys/run/counter/pid ;;
stop)
  kill "$(cat /var/vcap/sys/run/counter/pid)" && rm -f /var/vcap/sys/run/counter/pid ;;
esac
`,
        "pre-start": note("pre-start"),
        "post-start": note("post-start"),
        drain: `${note("drain")}echo 0\n`,
        "counter.yml.erb": 'greeting: <%= p("greeting") %> at <%= spec.address %>\n',
      },
    },
  },
};

/** Lines that the job writes when it is started. */
export const started = (greeting: string, address: string): readonly string[] => [
  "pre-start",
  "ctl start",
  "from a package",
  `greeting: ${greeting} at ${address}`,
  "post-start",
];
