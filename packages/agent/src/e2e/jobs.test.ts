import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { agentBundle } from "@slipway/testkit/agent-bundle";
import { AgentException } from "@slipway/testkit/agent-caller";
import { AgentMachine } from "@slipway/testkit/agent-machine";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { archiveOf, sha1 } from "../jobs/testing/lab.ts";

const bundle = agentBundle();
const PATIENCE_MS = 240_000;

describe("a real agent with jobs", () => {
  let machine: AgentMachine;
  beforeEach(async () => {
    machine = await AgentMachine.open({ bundle: bundle() });
    await machine.started();
  });
  afterEach(() => machine.close());

  const upload = async (id: string, content: Buffer) => {
    // As Ruby writes it.
    const payload = content.toString("base64").replace(/.{60}/g, "$&\n");
    expect(await machine.caller.value("upload_blob", { blob_id: id, checksum: sha1(content), payload })).toBe(
      id,
    );
    return { blobId: id, digest: sha1(content) };
  };
  const networks = { private: { ip: "127.0.0.1" } };
  const bare = {
    ...{ deployment: "shop", name: "api", index: 0, id: "0", az: "unknown", networks, packages: {} },
    configuration_hash: "unused-configuration-hash",
    rendered_templates_archive: { blobstore_id: "", sha1: "" },
    job: { name: "api", templates: [] },
  };

  it(
    "compiles a package and installs it with a job, in the order of create-env",
    async () => {
      const { caller, paths } = machine;
      expect(await caller.value("apply", bare)).toBe("applied");
      const packaging =
        "mkdir $BOSH_INSTALL_TARGET/bin && cp hello $BOSH_INSTALL_TARGET/bin/ && chmod +x $BOSH_INSTALL_TARGET/bin/hello";
      const source = await upload(
        "source",
        await archiveOf({ packaging, hello: "#!/bin/sh\necho hello from $1" }),
      );
      const { result } = (await caller.value(
        "compile_package",
        source.blobId,
        source.digest,
        "hello",
        "f1",
        {},
      )) as {
        result: { blobstore_id: string; sha1: string };
      };
      const templates = await upload(
        "templates",
        await archiveOf({ "./web/monit": "", "./web/bin/run": "#!/bin/sh" }),
      );
      expect(await caller.value("stop")).toBe("stopped");
      const spec = {
        ...bare,
        packages: { hello: { name: "hello", version: "f1", ...result } },
        job: { name: "api", templates: [{ name: "web", version: "v1" }] },
        rendered_templates_archive: { blobstore_id: templates.blobId, sha1: templates.digest },
      };
      expect(await caller.value("apply", spec)).toBe("applied");
      const program = join(paths.jobs, "web", "packages", "hello", "bin", "hello");
      expect((await systemExec(program, ["a package"])).stdout).toBe("hello from a package\n");
      expect(await caller.value("get_state")).toMatchObject({
        job: { templates: [{ name: "web", version: "v1" }] },
        packages: { hello: { name: "hello", version: "f1", sha1: result.sha1 } },
      });
      expect(await readdir(paths.sensitiveBlobs)).not.toContain("templates");
    },
    PATIENCE_MS,
  );

  it(
    "that is killed in a compilation ends what it left running, and compiles the next time; a cancelled one ends, too",
    async () => {
      const { caller, paths } = machine;
      const packaging = "sleep 1000 & echo $! > $BOSH_INSTALL_TARGET/pid; wait";
      const hanging = await upload("hanging", await archiveOf({ packaging }));
      const good = await upload(
        "good",
        await archiveOf({ packaging: "echo built > $BOSH_INSTALL_TARGET/x" }),
      );
      const pidFile = join(paths.packages, "app", "pid");
      const begun = async () => {
        const task = await caller.task("compile_package", hanging.blobId, hanging.digest, "app", "1", {});
        const read = () => readFile(pidFile, "utf8").catch(() => "");
        await expect.poll(read, { timeout: 60_000 }).toMatch(/\d/);
        return { task, pid: Number(await read()) };
      };
      const isGone = (pid: number) => readFile(`/proc/${pid}/stat`, "utf8").catch(() => ") Z");
      const first = await begun();
      await machine.agent?.kill();
      await machine.started();
      const compiled = await caller.value("compile_package", good.blobId, good.digest, "app", "1", {});
      expect(compiled).toHaveProperty("result.blobstore_id");
      expect(await isGone(first.pid)).toContain(") Z");
      const second = await begun();
      expect(await caller.value("cancel_task", second.task)).toBe("canceled");
      const end = caller.finished(await caller.ask("get_task", second.task));
      await expect(end).rejects.toSatisfy(
        (error: unknown) => error instanceof AgentException && /Compiling package app/.test(error.message),
      );
      await expect.poll(() => isGone(second.pid)).toContain(") Z");
      expect(await readdir(paths.packages)).toEqual([]);
    },
    PATIENCE_MS,
  );
});
