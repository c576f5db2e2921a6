import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { isAbsolute, resolve } from "node:path";
import { type Fields, MISSING, WRONG_VALUE } from "@slipway/engine/documents/fields";
import { check } from "@slipway/protocol/schema/check";
import { type JsonObject, jsonObject, text } from "@slipway/protocol/schema/json";
import { doc, hidden } from "@slipway/protocol/schema/marks";
import * as v from "valibot";
import type { CloudProvider, CpiChoice, JobChoice, MbusCert } from "./model.ts";
import { onlyKeys } from "./strict.ts";

/**
 * `cloud_provider.cpi`, which is ours: upstream's create-env only knows CPIs as jobs of a release. It names an
 * executable of the CPI contract, or a package of this program.
 */
export const cpiSchema = v.strictObject({
  exec_path: v.optional(doc(text("exec_path"), "the CPI's executable; relative to the manifest")),
  config_file: v.optional(
    doc(text("config_file"), "given to the executable with --configFile; relative to the manifest"),
  ),
  package: v.optional(doc(v.picklist(["local"]), "a CPI in this program, instead of an executable")),
  properties: v.optional(
    doc(hidden(jsonObject()), "for the CPI, in the context of every call; over cloud_provider.properties"),
  ),
});

const KEYS = ["cpi", "template", "templates", "mbus", "cert", "properties", "ssh_tunnel", "registry"];

/** Undefined: it cannot be used, and the report says why. */
export function readCloudProvider(fields: Fields, manifestDir: string): CloudProvider | undefined {
  onlyKeys(fields, KEYS);
  const cpi = readCpi(fields, manifestDir);
  const mbus = readMbus(fields);
  const cert = readCert(fields);
  if (cert !== undefined && !fields.has("mbus"))
    fields.wrong(
      MISSING,
      "mbus",
      "cert is given, but not where the agent listens",
      "Give mbus, or remove cert: certificates are then made by slipway.",
    );
  if (cpi === undefined) return undefined;
  return {
    cpi: cpi.choice,
    properties: { ...fields.object("properties"), ...cpi.properties },
    mbus,
    cert,
    registry: { host: readRegistryHost(fields), sshTunnel: fields.has("ssh_tunnel") },
  };
}

/** Upstream's manifests may have user and password there, too: those are made by slipway. */
function readRegistryHost(fields: Fields): string | undefined {
  const host = fields.object("registry")?.host;
  if (host === undefined || host === null) return undefined;
  if (typeof host === "string" && isIP(host) !== 0 && !WILDCARDS.includes(host)) return host;
  fields.wrong(
    WRONG_VALUE,
    "registry.host",
    "this is no address that a VM could be told",
    "Give one address of this machine that the VM reaches, such as 10.0.0.2.",
  );
  return undefined;
}

/** From inside a VM these are the VM itself. */
const WILDCARDS = ["0.0.0.0", "::"];

function readCpi(
  fields: Fields,
  manifestDir: string,
): { readonly choice: CpiChoice; readonly properties: JsonObject } | undefined {
  const released = readCpiJobs(fields);
  if (fields.has("cpi") && released !== undefined)
    fields.wrong(WRONG_VALUE, "cpi", "there is a template too", "Keep one of them.");
  if (released !== undefined) return { choice: { kind: "release", jobs: released }, properties: {} };
  if (!fields.has("cpi")) {
    fields.wrong(MISSING, "cpi", "it is required and missing", EXAMPLE);
    return undefined;
  }
  const checked = check(cpiSchema, fields.map.cpi, fields.at("cpi"));
  if (!checked.ok) {
    for (const problem of checked.problems) fields.wrong(WRONG_VALUE, "cpi", problem, EXAMPLE);
    return undefined;
  }
  const { exec_path: path, config_file: config, package: name, properties = {} } = checked.value;
  if ((path === undefined) === (name === undefined)) {
    fields.wrong(WRONG_VALUE, "cpi", "it names either an exec_path or a package", EXAMPLE);
    return undefined;
  }
  if (name !== undefined && config !== undefined)
    fields.wrong(WRONG_VALUE, "cpi.config_file", "a package has no configuration file", "Use properties.");
  const from = (file: string) => (isAbsolute(file) ? file : resolve(manifestDir, file));
  const choice: CpiChoice =
    path === undefined
      ? { kind: "package", name: name ?? "local" }
      : { kind: "exec", path: from(path), configFile: config === undefined ? undefined : from(config) };
  return { choice, properties };
}

/** Upstream's way: the job of a release that has a `bin/cpi`, and others that it needs. */
function readCpiJobs(fields: Fields): readonly JobChoice[] | undefined {
  const one = fields.object("template");
  const several = fields.list("templates");
  if (one === undefined && several === undefined) return undefined;
  const given = [...(one === undefined ? [] : [one]), ...(several ?? [])];
  const checked = check(v.array(jobSchema), given, fields.at("templates"));
  if (checked.ok) return checked.value;
  for (const problem of checked.problems)
    fields.wrong(WRONG_VALUE, "templates", problem, "Write templates: [{name: a_cpi, release: a-cpi}].");
  return [];
}

const jobSchema = v.looseObject({ name: text("name"), release: text("release") });

const EXAMPLE =
  "Write templates: [{name: a_cpi, release: a-cpi}] for one of a release, or cpi: {exec_path: ./cpi, config_file: ./cpi.json}, or cpi: {package: local} for sandboxes on this machine.";

function readMbus(fields: Fields): URL | undefined {
  const given = fields.text("mbus");
  if (given === undefined) return undefined;
  const wrong = (problem: string) => {
    fields.wrong(WRONG_VALUE, "mbus", problem, "Write https://user:password@10.0.0.6:6868.");
    return undefined;
  };
  // Never quoted: it holds a password.
  if (!URL.canParse(given)) return wrong("this is no URL");
  const url = new URL(given);
  if (url.protocol !== "https:") return wrong("the agent is reached over https only");
  if (url.username === "" || url.password === "") return wrong("it has no user and password");
  if (["0.0.0.0", "[::]"].includes(url.hostname)) return wrong("it names no address of the VM");
  if (url.port === "") return wrong("it has no port");
  return url;
}

const certSchema = v.looseObject({
  ca: v.optional(v.string()),
  certificate: v.optional(v.string()),
  private_key: v.optional(v.string()),
});

function readCert(fields: Fields): MbusCert | undefined {
  const given = fields.object("cert");
  if (given === undefined) return undefined;
  const checked = check(certSchema, given, fields.at("cert"));
  if (checked.ok) {
    checkCa(fields, "cert", checked.value);
    return certOf(checked.value);
  }
  for (const problem of checked.problems)
    fields.wrong(WRONG_VALUE, "cert", problem, "Give a variable of type certificate.");
  return undefined;
}

/** Checks that the authority that callers are to trust is a certificate. */
export function checkCa(fields: Fields, key: string, cert: unknown): void {
  const ca = certOf(cert)?.ca;
  if (ca === undefined) return;
  try {
    new X509Certificate(ca);
  } catch {
    fields.wrong(
      WRONG_VALUE,
      `${key}.ca`,
      "this is no certificate in PEM form",
      "Give a variable of type certificate.",
    );
  }
}

/** Returns the certificates in a value; undefined if it has none. */
export function certOf(value: unknown): MbusCert | undefined {
  if (!v.is(certSchema, value)) return undefined;
  const { ca, certificate, private_key: key } = value;
  if (!ca && !certificate && !key) return undefined;
  return {
    ...(ca && { ca }),
    ...(certificate && { certificate }),
    ...(key && { private_key: key }),
  };
}
