/** Returns a script that appends the job's rendered links to its log at each start. */
const note = (job: string) =>
  `#!/bin/bash\nmkdir -p /var/vcap/sys/log/${job}\ncat /var/vcap/jobs/${job}/config/told.json >> /var/vcap/sys/log/${job}/told\n`;

const job = (name: string, spec: string, told: string): Readonly<Record<string, string>> => ({
  [`jobs/${name}/spec`]: `---
name: ${name}
templates:
  pre-start: bin/pre-start
  told.json.erb: config/told.json
packages: []
${spec}`,
  [`jobs/${name}/monit`]: "",
  [`jobs/${name}/templates/pre-start`]: note(name),
  [`jobs/${name}/templates/told.json.erb`]: `<%= require "json"\n${told} %>\n`,
});

/** `store` provides a link, `front` consumes it and perhaps another, `guard` is for addons. Nothing runs, nothing is compiled. */
export const LINKS_RELEASE: Readonly<Record<string, string>> = {
  "config/final.yml": "name: linked\n",
  "config/blobs.yml": "--- {}\n",
  ...job(
    "store",
    `provides:
- {name: db, type: sql, properties: [port, password]}
properties:
  port: {default: 5432}
  password: {}
  certificate: {default: none}
`,
    'JSON.generate("address" => spec.address, "port" => p("port"), "certificate" => p("certificate"))',
  ),
  ...job(
    "front",
    `consumes:
- {name: db, type: sql, optional: true}
- {name: peek, type: peeker, optional: true}
properties: {}
`,
    `told = {}
if_link("db") do |db|
  told["db"] = {
    "address" => db.address, "instances" => db.instances.map { |one| one.address },
    "port" => db.p("port"), "password" => db.p("password", "none")
  }
end
if_link("peek") { |peek| told["peek"] = { "port" => peek.p("port"), "hidden" => peek.p("password", "hidden") } }
JSON.generate(told)`,
  ),
  ...job("guard", 'properties:\n  of: {default: "nobody"}\n', 'JSON.generate("of" => p("of"))'),
};
