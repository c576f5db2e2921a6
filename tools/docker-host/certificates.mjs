// One authority for a run, and what it vouches for: the engine, the CPI that talks to it, and the agents.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj"];

/** Files NAME.pem and NAME.key in the directory, and their texts by name. */
export function makeCertificates(dir) {
  const at = (name) => join(dir, name);
  openssl([
    "req",
    "-x509",
    "-days",
    "2",
    ...KEY,
    "/CN=docker-host",
    "-keyout",
    at("ca.key"),
    "-out",
    at("ca.pem"),
  ]);
  for (const [name, use] of [
    ["engine", "serverAuth"],
    ["cpi", "clientAuth"],
    ["agent", "serverAuth"],
  ]) {
    openssl(["req", ...KEY, `/CN=${name}`, "-keyout", at(`${name}.key`), "-out", at(`${name}.csr`)]);
    writeFileSync(at("extensions"), `subjectAltName=IP:127.0.0.1\nextendedKeyUsage=${use}\n`);
    const authority = ["-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-CAcreateserial"];
    const request = ["x509", "-req", "-days", "2", "-in", at(`${name}.csr`), "-extfile", at("extensions")];
    openssl([...request, ...authority, "-out", at(`${name}.pem`)]);
  }
  const read = (name) => readFileSync(at(name), "utf8");
  const pair = (name) => ({ certificate: read(`${name}.pem`), private_key: read(`${name}.key`) });
  return { ca: read("ca.pem"), cpi: pair("cpi"), agent: pair("agent") };
}

function openssl(args) {
  const { status, stderr, error } = spawnSync("openssl", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`openssl: ${error?.message ?? stderr}`);
}
