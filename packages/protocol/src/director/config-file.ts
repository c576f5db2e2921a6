import * as v from "valibot";
import { jsonObject, mapOf, text } from "../schema/json.ts";
import { doc, hidden, secret } from "../schema/marks.ts";
import { directorPart } from "./config-director.ts";
import { loggingPart, proxyUrl, tracingPart } from "./config-observability.ts";
import { healthPart, https, natsPart, uaaPart } from "./config-parts.ts";

const user = v.strictObject({
  name: doc(text("name"), "for `bosh log-in` and BOSH_CLIENT"),
  password: secret(doc(text("password"), "never empty")),
  scopes: v.optional(doc(v.array(text("scope")), "default: `bosh.admin`")),
});

/** The Director's configuration file. Everything has a default; a key it does not know is a mistake. */
export const directorConfig = v.strictObject({
  name: v.optional(doc(text("name"), "shown by `bosh env`; default: slipway")),
  uuid: v.optional(
    doc(
      v.pipe(
        text("uuid"),
        v.regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, "uuid must be a UUID in lower case"),
      ),
      "of the Director, at its first start; default: a random one",
    ),
  ),
  state_dir: v.optional(doc(text("state_dir"), "everything it keeps; default depends on the user")),
  listen: v.optional(
    v.strictObject({
      host: v.optional(doc(text("host"), "default: 127.0.0.1")),
      port: v.optional(
        doc(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65535)), "default: 25555"),
      ),
      names: v.optional(doc(v.array(text("name")), "further names and addresses for the certificate")),
      certificate: v.optional(
        doc(
          text("certificate"),
          "the API's own, then those up to its authority: PEM, or the path of a file; default: made by the Director",
        ),
      ),
      private_key: v.optional(
        secret(doc(text("private_key"), "of `certificate`: PEM, or the path of a file")),
      ),
      ca: v.optional(
        doc(
          text("ca"),
          "who signed `certificate`, for what is told to clients here: PEM, or the path of a file",
        ),
      ),
      plain_http: v.optional(
        doc(
          v.boolean(),
          "no TLS, behind a balancer on this machine: for a `host` of loopback alone; default: TLS",
        ),
      ),
    }),
  ),
  users: v.optional(doc(v.array(user), "default: `admin` with a generated password in the state directory")),
  uaa: v.optional(uaaPart),
  cpi: v.optional(
    v.strictObject({
      exec_path: v.optional(
        doc(text("exec_path"), "the CPI executable; without one the in-process CPI is used"),
      ),
      name: v.optional(
        doc(
          text("name"),
          "shown by `bosh env`; default: of `exec_path` the job, or the file without its ending",
        ),
      ),
      config_file: v.optional(doc(text("config_file"), "given to it with --configFile")),
      env: v.optional(
        doc(
          hidden(
            v.record(
              v.pipe(v.string(), v.regex(/^[A-Za-z_]\w*$/, "a variable's name has letters, digits and _")),
              v.string(),
            ),
          ),
          "environment variables of the executable, beside PATH, HOME and TMPDIR, and over them",
        ),
      ),
      properties: v.optional(doc(hidden(jsonObject()), "merged into the context of every call")),
      programs: v.optional(
        doc(
          mapOf(text("a path")),
          "executables by type, for the CPIs of a CPI config; no others run but those in `/var/vcap/jobs/*/bin/cpi`",
        ),
      ),
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
      trusted_certs: v.optional(
        doc(
          text("trusted_certs"),
          "certificates that new VMs trust beside those of their stemcell: PEM, or the path of a file",
        ),
      ),
      transport: v.optional(
        doc(
          v.picklist(["https", "nats"]),
          "how agents of new VMs are reached; default: https. Others stay as they are until recreated",
        ),
      ),
    }),
  ),
  nats: v.optional(natsPart),
  director: v.optional(directorPart),
  proxy: v.optional(
    doc(
      v.strictObject({
        http: v.optional(secret(doc(proxyUrl, "for addresses that begin with http://"))),
        https: v.optional(secret(doc(proxyUrl, "for those that begin with https://, by CONNECT"))),
        no_proxy: v.optional(
          doc(
            text("no_proxy"),
            "who is asked directly: `host`, `.domain`, `host:port`, `10.0.0.0/8`, with commas",
          ),
        ),
      }),
      "for stemcells and releases that are fetched by URL; default: `http_proxy`, `https_proxy` and `no_proxy` of the environment",
    ),
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
  health: v.optional(healthPart),
  logging: v.optional(loggingPart),
  tracing: v.optional(tracingPart),
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
