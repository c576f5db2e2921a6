import { X509Certificate } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseYaml } from "@slipway/engine/documents/yaml";
import { systemClock } from "@slipway/kernel/clock";
import { systemExec } from "@slipway/kernel/exec";
import { systemRandom } from "@slipway/kernel/random";
import { needs } from "@slipway/testkit/needs";
import { describe, expect, it } from "vitest";
import { evaluateFile } from "./evaluate-file.ts";
import { ownDirectory } from "./testing/own-directory.ts";
import { typedOptionsOf } from "./testing/typed-options.ts";

const bosh = process.env.SLIPWAY_BOSH ?? "";

const ROOTS = `
- {name: pw, type: password}
- {name: root, type: certificate, options: {is_ca: true, common_name: root, organization: "Ours, Inc."}}
`;
const LEAVES = `
- {name: middle, type: certificate, options: {is_ca: true, ca: root, common_name: middle}}
- {name: leaf, type: certificate, options: {ca: root, common_name: leaf, alternative_names: [a.b, 10.0.0.1]}}
- {name: key, type: rsa}
- {name: login, type: ssh}
`;

type Kept = Record<string, Record<string, string>>;

async function world() {
  const dir = await ownDirectory();
  const store = join(dir, "creds.yml");
  const write = async (name: string, definitions: string) => {
    const path = join(dir, name);
    await writeFile(path, `a: ((pw))\nb: ((root.certificate))\nvariables:\n${definitions}`);
    return path;
  };
  return {
    read: async () => parseYaml(await readFile(store, "utf8"), store) as Kept,
    theirs: async (definitions: string) => {
      const path = await write("theirs.yml", definitions);
      const args = ["interpolate", path, `--vars-store=${store}`, "--var-errs"];
      const { code, stdout, stderr } = await systemExec(bosh, args, { env: { HOME: dir } });
      expect([code, stderr]).toEqual([0, ""]);
      return parseYaml(stdout, "their document");
    },
    ours: async (definitions: string) => {
      const tools = { env: {}, clock: systemClock, random: systemRandom };
      const path = await write("ours.yml", definitions);
      return (await evaluateFile(path, typedOptionsOf({ "vars-store": store }), tools)).value;
    },
  };
}

describe.runIf(needs("bosh-cli", bosh !== "", "SLIPWAY_BOSH names none"))(
  "a store shared with the real CLI",
  () => {
    it.each(["ours", "theirs"] as const)(
      "%s first, then the other: nothing changes, and chains verify",
      async (first) => {
        const { read, ...players } = await world();
        const second = first === "ours" ? "theirs" : "ours";
        await players[first](ROOTS);
        const before = await read();
        const document = await players[second](ROOTS + LEAVES);
        const after = await read();
        expect(after).toMatchObject(before);
        expect(Object.keys(after).sort()).toEqual(["key", "leaf", "login", "middle", "pw", "root"]);
        expect(await players[first](ROOTS + LEAVES)).toEqual(document);
        expect(await read()).toEqual(after);

        const root = new X509Certificate(after.root?.certificate ?? "");
        for (const name of ["middle", "leaf"]) {
          const one = new X509Certificate(after[name]?.certificate ?? "");
          expect(after[name]?.ca).toBe(after.root?.certificate);
          expect(one.verify(root.publicKey)).toBe(true);
          // Go compares the names byte by byte.
          expect(hasName(one, issuedName(root))).toBe(true);
        }
      },
    );
  },
);

/** The subject as it stands in the certificate: after the second of its two dates. */
function issuedName(root: X509Certificate): Buffer {
  const { raw } = root;
  const dates = [...raw.toString("latin1").matchAll(/\d{12}Z/g)];
  const start = (dates[1]?.index ?? 0) + 13;
  return raw.subarray(start, start + 2 + (raw[start + 1] ?? 0));
}

const hasName = (one: X509Certificate, name: Buffer): boolean =>
  name.length > 20 && name[0] === 0x30 && one.raw.includes(name);
