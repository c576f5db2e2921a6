import * as v from "valibot";
import { jsonObject, text } from "../schema/json.ts";
import { doc, hidden, secret } from "../schema/marks.ts";

const user = v.strictObject({
  name: doc(text("name"), "for `bosh log-in` and BOSH_CLIENT"),
  password: secret(doc(text("password"), "never empty")),
  scopes: v.optional(doc(v.array(text("scope")), "default: `bosh.admin`")),
});

const https = (what: string) =>
  v.pipe(
    text(what),
    v.check(
      (url) => URL.canParse(url) && new URL(url).protocol === "https:",
      `${what} must begin with https://`,
    ),
  );

const httpUrl = (what: string) =>
  v.pipe(
    text(what),
    v.check(
      (url) => URL.canParse(url) && ["http:", "https:"].includes(new URL(url).protocol),
      `${what} must begin with https:// or http://`,
    ),
  );

const percentage = v.pipe(v.number(), v.minValue(0), v.maxValue(100));
const natsUrl = v.pipe(
  text("url"),
  v.check(
    (url) => URL.canParse(url) && new URL(url).protocol === "nats:" && new URL(url).hostname !== "",
    "url must be of the form nats://host:port",
  ),
);

const port = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65535));

/** The Director's configuration file. Everything has a default; a key it does not know is a mistake. */
export const directorConfig = v.strictObject({
  name: v.optional(doc(text("name"), "shown by `bosh env`; default: slipway")),
  state_dir: v.optional(doc(text("state_dir"), "everything it keeps; default depends on the user")),
  listen: v.optional(
    v.strictObject({
      host: v.optional(doc(text("host"), "default: 127.0.0.1")),
      port: v.optional(
        doc(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65535)), "default: 25555"),
      ),
      names: v.optional(doc(v.array(text("name")), "further names and addresses for the certificate")),
    }),
  ),
  users: v.optional(doc(v.array(user), "default: `admin` with a generated password in the state directory")),
  uaa: v.optional(
    doc(
      v.pipe(
        v.strictObject({
          url: v.optional(doc(https("url"), "where it is, for the CLI too")),
          urls: v.optional(
            doc(v.pipe(v.array(https("url")), v.minLength(1)), "instead of `url`: several addresses"),
          ),
          ca: v.optional(doc(text("ca"), "its CA: PEM, or the path of a file; default: the system's")),
          issuer: v.optional(
            doc(text("issuer"), "who its tokens say they are from; default: url and `/oauth/token`"),
          ),
          audience: v.optional(
            doc(
              text("audience"),
              "for whom its tokens must be; default: `bosh`, or what begins with `bosh.`",
            ),
          ),
          keys_url: v.optional(
            doc(
              https("keys_url"),
              "where its keys are, as a JSON Web Key Set; default: url and `/token_keys`",
            ),
          ),
          public_key: v.optional(
            doc(
              text("public_key"),
              "the one key of its tokens: PEM, or the path of a file; nothing is fetched then",
            ),
          ),
          symmetric_key: v.optional(secret(doc(text("symmetric_key"), "the one secret of its tokens"))),
        }),
        v.check(
          ({ url, urls }) => (url === undefined) !== (urls === undefined),
          "uaa must have either url or urls",
        ),
      ),
      "whose tokens are accepted beside the passwords of `users`",
    ),
  ),
  cpi: v.optional(
    v.strictObject({
      exec_path: v.optional(
        doc(text("exec_path"), "the CPI executable; without one the in-process CPI is used"),
      ),
      config_file: v.optional(doc(text("config_file"), "given to it with --configFile")),
      properties: v.optional(doc(hidden(jsonObject()), "merged into the context of every call")),
      deadline_s: v.optional(
        doc(
          v.pipe(v.number(), v.minValue(1)),
          "longest time of one call; default: 3600, four times that for images and snapshots",
        ),
      ),
    }),
  ),
  agent: v.optional(
    v.strictObject({
      port: v.optional(doc(v.pipe(v.number(), v.integer()), "where agents listen; default: 6868")),
      wait_timeout_s: v.optional(doc(v.number(), "how long a new agent may take; default: 600")),
      env: v.optional(doc(hidden(jsonObject()), "`bosh` part of every VM's env: blobstores, ntp")),
      transport: v.optional(
        doc(
          v.picklist(["https", "nats"]),
          "how agents of new VMs are reached; default: https. Others stay as they are until recreated",
        ),
      ),
    }),
  ),
  nats: v.optional(
    doc(
      v.strictObject({
        server: v.optional(
          doc(
            v.strictObject({
              program: v.optional(doc(text("program"), "default: nats-server, from the PATH")),
              host: v.optional(doc(text("host"), "where it listens; default: 127.0.0.1")),
              port: v.optional(doc(port, "default: 4222")),
            }),
            "a server that the Director starts and keeps running; default: `urls` names one that runs",
          ),
        ),
        urls: v.optional(
          doc(v.array(natsUrl), "by which the Director and agents reach it; default: where `server` listens"),
        ),
        ca: v.optional(
          doc(
            text("ca"),
            "who signed the server's certificate: PEM, or the path of a file; default: the Director's authority",
          ),
        ),
        client_ca: v.optional(
          doc(
            v.strictObject({
              certificate: doc(text("certificate"), "PEM, or the path of a file"),
              private_key: secret(doc(text("private_key"), "PEM, or the path of a file")),
            }),
            "who signs for the Director and agents; the server must trust it; default: the Director's authority",
          ),
        ),
        blobs: v.optional(
          doc(
            v.strictObject({
              host: v.optional(
                doc(text("host"), "where it listens; default: that of `server`, or 127.0.0.1"),
              ),
              port: v.optional(doc(port, "default: 25250")),
              url: v.optional(doc(https("url"), "by which agents reach it; default: where it listens")),
            }),
            "where agents on NATS get packages and put logs: the Director serves them",
          ),
        ),
      }),
      "agents that are clients of a NATS server; default: none",
    ),
  ),
  director: v.optional(
    v.strictObject({
      cpi_api_test_max_version: v.optional(
        doc(v.picklist([1, 2, 3]), "the highest CPI API version asked for"),
      ),
      max_vm_create_tries: v.optional(
        doc(
          v.pipe(v.number(), v.integer(), v.minValue(1)),
          "for a CPI that says it may work next time; default: 5",
        ),
      ),
      enable_cpi_resize_disk: v.optional(
        doc(v.boolean(), "disks grow by the CPI's resize_disk where it can; default: by copy"),
      ),
      enable_cpi_update_disk: v.optional(
        doc(v.boolean(), "disks change by the CPI's update_disk where it can; default: by copy"),
      ),
      enable_short_lived_nats_bootstrap_credentials: v.optional(
        doc(
          v.boolean(),
          "new VMs on NATS get a certificate for a day, replaced at the first contact; default true. False where nobody starts an agent again that ends for another certificate",
        ),
      ),
      enable_snapshots: v.optional(
        doc(
          v.boolean(),
          "`take-snapshot` takes snapshots of disks; default: it takes none, without an error",
        ),
      ),
      keep_unreachable_vms: v.optional(
        doc(
          v.boolean(),
          "new VMs whose agent never answers stay, to be looked at; default: they are deleted",
        ),
      ),
      workers: v.optional(doc(v.pipe(v.number(), v.integer(), v.minValue(1)), "tasks at once; default: 4")),
      keep_tasks: v.optional(
        doc(v.pipe(v.number(), v.integer(), v.minValue(1)), "finished tasks kept per type; default: 2000"),
      ),
      orphan_disk_days: v.optional(doc(v.number(), "age at which orphaned disks are deleted; default: 5")),
    }),
  ),
  templates: v.optional(
    v.strictObject({
      ruby: v.optional(
        doc(text("ruby"), "a Ruby of the system that renders job templates; default: the built-in one"),
      ),
    }),
  ),
  local_dns: v.optional(
    doc(
      v.strictObject({
        enabled: v.optional(
          doc(v.boolean(), "agents are told the names of all instances; default: they are not"),
        ),
        domain: v.optional(doc(text("domain"), "what all names end with; default: bosh")),
        use_dns_addresses: v.optional(
          doc(v.boolean(), "addresses are names for deployments that do not say; default: IPs"),
        ),
        include_index: v.optional(doc(v.boolean(), "instances have names by index too; default: by id only")),
      }),
      "names of instances, for `/etc/hosts` and the bosh-dns release",
    ),
  ),
  health: v.optional(
    doc(
      v.strictObject({
        enabled: v.optional(doc(v.boolean(), "agents are asked how they are; default: they are")),
        interval_s: v.optional(
          doc(v.pipe(v.number(), v.minValue(1)), "how often each agent is asked; default: 30"),
        ),
        unresponsive_after_s: v.optional(
          doc(v.pipe(v.number(), v.minValue(1)), "silence after which an agent is unresponsive; default: 60"),
        ),
        at_once: v.optional(
          doc(v.pipe(v.number(), v.integer(), v.minValue(1)), "agents asked at the same time; default: 64"),
        ),
        resurrection: v.optional(
          v.strictObject({
            enabled: v.optional(
              doc(
                v.boolean(),
                "instances that are unresponsive or without a VM get a new one; default: they do",
              ),
            ),
            minimum_down: v.optional(
              doc(
                v.pipe(v.number(), v.integer(), v.minValue(1)),
                "so many instances of a deployment must be down before none of them is replaced; default: 5",
              ),
            ),
            percent_down: v.optional(doc(percentage, "and so many percent of them; default: 20")),
            window_s: v.optional(
              doc(v.pipe(v.number(), v.minValue(0)), "how long one that was down counts; default: 600"),
            ),
            fleet_minimum_down: v.optional(
              doc(
                v.pipe(v.number(), v.integer(), v.minValue(1)),
                "so many of all agents must be silent before nobody at all is replaced; default: 3",
              ),
            ),
            fleet_percent_down: v.optional(doc(percentage, "and so many percent of them; default: 50")),
          }),
        ),
        webhook: v.optional(
          doc(
            v.strictObject({
              url: secret(doc(httpUrl("url"), "where alerts are posted as JSON")),
              ca: v.optional(doc(text("ca"), "its CA: PEM, or the path of a file; default: the system's")),
              authorization: v.optional(secret(doc(text("authorization"), "the header of that name"))),
            }),
            "who else is told of alerts; the Director's log always is",
          ),
        ),
      }),
      "watching instances, and replacing VMs that are gone or silent",
    ),
  ),
  registry: v.optional(
    v.strictObject({
      host: v.optional(
        doc(text("host"), "where our registry listens when a mix needs it; default: 127.0.0.1"),
      ),
      port: v.optional(doc(v.pipe(v.number(), v.integer()), "default: 25777")),
    }),
  ),
  config_server: v.optional(
    doc(
      v.strictObject({
        url: doc(https("url"), "CredHub, or another program with its `/v1/data`"),
        ca: v.optional(doc(text("ca"), "its CA: PEM, or the path of a file; default: the system's")),
        uaa: v.strictObject({
          url: doc(https("url"), "who gives the tokens for it"),
          client_id: text("client_id"),
          client_secret: secret(text("client_secret")),
          ca: v.optional(doc(text("ca"), "as above")),
        }),
      }),
      "who has the values of `((variables))`; default: the Director itself",
    ),
  ),
  database: v.optional(
    v.strictObject({
      url: v.optional(doc(secret(text("url")), "a PostgreSQL server; default: the embedded one")),
    }),
  ),
});
export type DirectorConfig = v.InferOutput<typeof directorConfig>;
