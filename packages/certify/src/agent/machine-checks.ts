import { createHash } from "node:crypto";
import { readdir, readFile, readlink, stat } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { type AddressInfo, isIP } from "node:net";
import { join } from "node:path";
import { CannotTell, expectEqual, expectIncludes, expectTrue } from "../expect.ts";
import { type Check, type CheckContext, given } from "./check.ts";

/** Serves these contents on the loopback, each under its name, while the work is done. */
async function serving(
  contents: Readonly<Record<string, string>>,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const server: Server = createServer((request, response) => {
    const content = contents[(request.url ?? "").slice(1)];
    response.statusCode = content === undefined ? 404 : 200;
    response.end(content);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const records = (version: number) => JSON.stringify({ version, records: [["10.0.0.5", "api.conformance"]] });
const digest = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;

const knownVersion = async (path: string): Promise<number> => {
  const text = await readFile(path, "utf8").catch(() => '{"version":0}');
  return (JSON.parse(text) as { version: number }).version;
};

const trusted = async ({ certificatesDir }: CheckContext): Promise<string[]> =>
  (await readdir(certificatesDir).catch((): string[] => [])).filter((name) =>
    /^bosh-trusted-cert-\d+\.crt$/.test(name),
  );

/** Checks that change more than the agent's own state. */
export const MACHINE_CHECKS: readonly Check[] = [
  {
    id: "AGENT-MACHINE-001",
    number: 35,
    name: "ssh makes and removes its own users and leaves all others alone",
    needs: ["machine"],
    run: async ({ agent }) => {
      const others = async () =>
        (await readFile("/etc/passwd", "utf8")).split("\n").filter((row) => !row.startsWith("bosh_"));
      const before = await others();
      const user = {
        user: "bosh_conformance",
        public_key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA conformance",
      };
      const answer = await agent.send("ssh", ["setup", user]);
      if ("exception" in answer && /no ssh (server|host key)/.test(answer.exception.message))
        throw new CannotTell("the agent's machine has no ssh server");
      if ("exception" in answer) throw new Error(answer.exception.message);
      const { command, status, ip, host_public_key } = answer.value as Record<string, unknown>;
      expectEqual({ command, status }, { command: "setup", status: "success" }, "setup");
      expectTrue(typeof ip === "string" && isIP(ip) !== 0, `ip: ${ip}`);
      expectTrue(/^(ssh|ecdsa)-\S+ \S+/.test(`${host_public_key}`), `host_public_key: ${host_public_key}`);
      expectEqual(
        await agent.send("ssh", ["cleanup", { user_regex: ".*" }]),
        { value: { command: "cleanup", status: "success" } },
        "cleanup",
      );
      expectEqual(await others(), before, "/etc/passwd");
      expectIncludes(await agent.failure("ssh", ["frob", {}]), "Unknown command for SSH method");
    },
  },
  {
    id: "AGENT-MACHINE-002",
    number: 36,
    name: "newer DNS records are taken over, older ones and wrong ones are not",
    needs: ["base-dir"],
    run: async ({ agent, baseDir }) => {
      const file = join(given(baseDir), "instance", "dns", "records.json");
      const base = await knownVersion(file);
      const [newer, older, wrong] = [base + 5, base + 4, base + 9];
      const contents = { newer: records(newer), older: records(older), wrong: records(wrong) };
      await serving(contents, async (url) => {
        const sync = (name: keyof typeof contents, version: number): readonly unknown[] => [
          { signed_url: `${url}/${name}`, multi_digest: digest(contents[name]), version },
        ];
        expectEqual(await agent.value("sync_dns_with_signed_url", sync("newer", newer)), "synced", "newer");
        expectEqual(await agent.value("sync_dns_with_signed_url", sync("older", older)), "synced", "older");
        expectEqual(await knownVersion(file), newer, "version in records.json");
        expectIncludes(
          await agent.failure("sync_dns_with_signed_url", sync("wrong", wrong + 1)),
          "version from unpacked dns blob does not match version supplied by director",
        );
      });
      expectEqual(await readFile(file, "utf8"), contents.newer, "records.json");
      expectEqual((await stat(file)).mode & 0o777, 0o640, "mode of records.json");
    },
  },
  {
    id: "AGENT-MACHINE-003",
    number: 47,
    name: "trusted certificates are the ones that were sent last, and nothing around them",
    needs: ["machine"],
    run: async (context) => {
      const { agent, certificate } = context;
      const trusted_certs = `junk\n${certificate}\nmore junk\n${certificate}`;
      expectEqual(await agent.value("update_settings", [{ trusted_certs }]), "ok", "update_settings");
      expectEqual((await trusted(context)).length, 2, "number of certificates");
      expectEqual(await agent.value("update_settings", [{}]), "ok", "update_settings of nothing");
      expectEqual((await trusted(context)).length, 0, "number of certificates after that");
    },
  },
  {
    id: "AGENT-DISK-008",
    number: 48,
    name: "associated disks are linked by name, unknown ones are refused",
    needs: ["machine", "base-dir", "disks"],
    run: async ({ agent, baseDir, disks }) => {
      const [disk] = given(disks);
      await agent.value("add_persistent_disk", [disk.cid, disk.hint]);
      const disk_associations = [{ name: "conformance", cid: disk.cid }];
      expectEqual(await agent.value("update_settings", [{ disk_associations }]), "ok", "update_settings");
      const link = await readlink(join(given(baseDir), "instance", "disks", "conformance"));
      expectTrue(link.startsWith("/"), `the link leads to ${link}`);
      const unknown = [{ name: "conformance", cid: "no-such-disk" }];
      expectIncludes(
        await agent.failure("update_settings", [{ disk_associations: unknown }]),
        "could not be found",
      );
      expectEqual(await agent.value("update_settings", [{}]), "ok", "update_settings of nothing");
      await agent.value("remove_persistent_disk", [disk.cid]);
    },
  },
];
