import type { JobSketch, ReleaseSketch } from "../director/release-archive.ts";

const CTL = `#!/bin/bash
set -eu
RUN_DIR=/var/vcap/sys/run/<%= name %>
LOG_DIR=/var/vcap/sys/log/<%= spec.job.name %>
<%- p("env").sort.each do |key, value| -%>
export <%= key %>=<%= Shellwords.escape(value.to_s) %>
<%- end -%>
<%- if_p("limits.files") do |files| -%>
ulimit -n <%= files %>
<%- end -%>
mkdir -p "$RUN_DIR" "$LOG_DIR"
exec /var/vcap/packages/<%= p("package") %>/bin/server --port <%= p("port") %> --id <%= spec.id %> \\
  --address <%= spec.address %> --zone <%= spec.az %>
`;

const CONFIG = `<%=
config = {
  "listen" => { "address" => spec.ip, "port" => p("port") },
  "hub" => link("hub").instances.map { |one| "#{one.address}:#{link("hub").p("port")}" },
  "users" => p("users").map { |user| { "name" => user["name"], "password" => user["password"] } },
  "bootstrap" => spec.bootstrap,
}
if_p("tls.certificate", "tls.private_key") do |certificate, key|
  config["tls"] = { "certificate" => certificate, "private_key" => key }
end
JSON.pretty_generate(config)
%>
`;

const SETTINGS = `---
<% if p("debug") %>
log_level: debug
<% else %>
log_level: info
<% end %>
deployment: <%= spec.deployment %>
instance: <%= spec.name %>/<%= spec.index %>
networks: <%= spec.networks.to_h.keys.join(",") %>
release: <%= spec.release.name %>/<%= spec.release.version %>
<% 40.times do |n| %>
option_<%= n %>: <%= p(["options.option_#{n}", "port"]) %>
<% end %>
`;

const MONIT = `check process server
  with pidfile /var/vcap/sys/run/server/server.pid
  start program "/var/vcap/jobs/server/bin/ctl start"
  stop program "/var/vcap/jobs/server/bin/ctl stop"
  group vcap
`;

/** Templates of a job, like those of a Director. */
export const TEMPLATES = { "ctl.erb": CTL, "config.json.erb": CONFIG, "settings.yml.erb": SETTINGS };
/** Number of templates with monit's. */
export const TEMPLATES_PER_JOB = Object.keys(TEMPLATES).length + 1;

export const SAMPLE_PROPERTIES = {
  package: "server",
  port: 8080,
  debug: false,
  env: { LANG: "C.UTF-8", HOME: "/var/vcap/data", GREETING: "it's here" },
  users: [
    { name: "admin", password: "secret" },
    { name: "reader", password: "other" },
  ],
  tls: { certificate: "-----BEGIN CERTIFICATE-----\n".repeat(20), private_key: "key\n".repeat(20) },
  limits: { files: 65_536 },
  options: { option_1: 1, option_2: 2 },
};

const NAMES = ["package", "port", "debug", "env", "users", "tls.certificate", "tls.private_key"];
const properties = Object.fromEntries([...NAMES, "limits.files", "options"].map((name) => [name, {}]));

const jobOf = (at: number): JobSketch => ({
  name: `server-${at}`,
  spec: {
    templates: {
      "ctl.erb": "bin/ctl",
      "config.json.erb": "config/config.json",
      "settings.yml.erb": "config/settings.yml",
    },
    packages: [`server-${at}`],
    properties,
    consumes: [{ name: "hub", type: "hub" }],
  },
  monit: MONIT,
  templates: TEMPLATES,
});

/** Jobs like those of real releases: three templates each, a package each that needs a common one, and a link. */
export const sampleRelease = (jobs: number): ReleaseSketch => ({
  name: "sample",
  version: "1",
  jobs: [
    {
      name: "hub",
      spec: {
        templates: {},
        packages: ["common"],
        properties: { port: { default: 4222 } },
        provides: [{ name: "hub", type: "hub", properties: ["port"] }],
      },
      monit: "",
    },
    ...Array.from({ length: jobs }, (_, at) => jobOf(at)),
  ],
  packages: [
    { name: "common", files: { packaging: "# common\n" } },
    ...Array.from({ length: jobs }, (_, at) => ({
      name: `server-${at}`,
      dependencies: ["common"],
      files: { packaging: `# server-${at}\n` },
    })),
  ],
});
