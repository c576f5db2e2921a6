import { createHash } from "node:crypto";
import { expectEqual, expectIncludes, expectTrue } from "../expect.ts";
import { type Check, given } from "./check.ts";
import { runningId } from "./messages.ts";

const sha1 = (text: string) => createHash("sha1").update(text).digest("hex");
const lines = (base64: string) => base64.replace(/(.{60})/g, "$1\n");

/** Checks that need only the endpoint. */
export const WIRE_CHECKS: readonly Check[] = [
  {
    id: "AGENT-WIRE-001",
    number: 2,
    name: "ping is answered over HTTPS",
    needs: ["https"],
    run: async ({ https }) => {
      const { status, body } = await given(https).http(
        "POST",
        "/agent",
        '{"method":"ping","arguments":[],"reply_to":"x"}',
      );
      expectEqual([status, JSON.parse(body)], [200, { value: "pong" }], "ping");
    },
  },
  {
    id: "AGENT-WIRE-002",
    number: 3,
    name: "a wrong password and unknown routes are refused",
    needs: ["https"],
    run: async ({ https }) => {
      const agent = given(https);
      const wrong = await agent.http(
        "POST",
        "/agent",
        "{}",
        `Basic ${Buffer.from("a:b").toString("base64")}`,
      );
      expectEqual(
        [wrong.status, wrong.header("www-authenticate")],
        [401, 'Basic realm=""'],
        "wrong password",
      );
      expectEqual((await agent.http("GET", "/agent")).status, 404, "GET /agent");
      expectEqual((await agent.http("GET", "/nope")).status, 404, "GET /nope");
    },
  },
  {
    id: "AGENT-WIRE-003",
    number: 4,
    part: "H",
    name: "a body that is not JSON gets 500, and the next ping works",
    needs: ["https"],
    run: async ({ https }) => {
      const agent = given(https);
      expectEqual((await agent.http("POST", "/agent", "{")).status, 500, "body {");
      expectEqual(await agent.value("ping"), "pong", "ping");
    },
  },
  {
    id: "AGENT-WIRE-004",
    number: 5,
    name: "an unknown message is named exactly",
    run: async ({ agent }) =>
      expectEqual(
        await agent.send("frobnicate"),
        { exception: { message: "unknown message frobnicate" } },
        "reply",
      ),
  },
  {
    id: "AGENT-WIRE-005",
    number: 6,
    name: "info has api_version 1",
    run: async ({ agent }) =>
      expectEqual(((await agent.value("info")) as { api_version: unknown }).api_version, 1, "api_version"),
  },
  {
    id: "AGENT-WIRE-006",
    number: 7,
    name: "unknown tasks can be neither read nor cancelled",
    run: async ({ agent }) => {
      expectIncludes(await agent.failure("get_task", ["x"]), "Task with id x could not be found");
      expectIncludes(await agent.failure("cancel_task", ["x"]), "Task with id x could not be found");
    },
  },
  {
    id: "AGENT-WIRE-007",
    number: 8,
    name: "missing arguments of a task are told by get_task",
    run: async ({ agent }) => {
      const reply = await agent.send("apply");
      expectTrue(
        "value" in reply && runningId(reply.value) !== undefined,
        "apply did not answer with a task",
      );
      expectIncludes(await agent.failure("apply"), "expected 1, got 0");
    },
  },
  {
    id: "AGENT-WIRE-008",
    number: 9,
    name: "surplus arguments are not refused",
    run: async ({ agent }) => {
      const why = await agent.failure("migrate_disk", ["a", "b", "c"]);
      expectTrue(!/argument/i.test(why), `refused for its arguments: ${why}`);
    },
  },
  {
    id: "AGENT-STATE-001",
    number: 10,
    name: "get_state has its objects, and vitals only when asked",
    run: async ({ agent }) => {
      const state = (await agent.value("get_state")) as Record<string, unknown>;
      for (const key of ["networks", "packages", "resource_pool"]) {
        expectTrue(typeof state[key] === "object" && state[key] !== null, `${key} must be an object`);
      }
      expectTrue(typeof state.agent_id === "string" && !("vitals" in state), "agent_id, and no vitals");
      const full = (await agent.value("get_state", ["full"])) as {
        vitals?: { load?: unknown[]; uptime?: { secs?: unknown } };
      };
      expectTrue(full.vitals?.load?.every((one) => typeof one === "string") === true, "load must be strings");
      expectTrue(typeof full.vitals?.uptime?.secs === "number", "uptime.secs must be a number");
    },
  },
  {
    id: "AGENT-STATE-003",
    number: 12,
    name: "apply refuses a network that is not in the settings",
    run: async ({ agent }) =>
      expectIncludes(await agent.failure("apply", [{ networks: { nowhere: {} } }]), "nowhere"),
  },
  {
    id: "AGENT-STATE-004",
    number: 13,
    name: "get_state echoes unknown keys of networks",
    run: async ({ agent, network }) => {
      const given = { type: "manual", ip: "10.0.0.5", cloud_properties: { deep: [1] }, unknown_key: "kept" };
      expectEqual(await agent.value("apply", [{ networks: { [network]: given } }]), "applied", "apply");
      const state = (await agent.value("get_state")) as { networks: Record<string, Record<string, unknown>> };
      expectEqual(state.networks[network]?.unknown_key, "kept", "unknown_key");
      expectEqual(state.networks[network]?.cloud_properties, { deep: [1] }, "cloud_properties");
    },
  },
  {
    id: "AGENT-BLOB-001",
    number: 14,
    name: "upload_blob takes base64 with line breaks and checks the digest",
    run: async ({ agent, uuid }) => {
      const content = "x".repeat(500);
      const payload = lines(Buffer.from(content).toString("base64"));
      const blob_id = uuid();
      expectEqual(
        await agent.value("upload_blob", [{ blob_id, checksum: sha1(content), payload }]),
        blob_id,
        "id",
      );
      expectIncludes(
        await agent.failure("upload_blob", [{ blob_id, checksum: sha1("y"), payload }]),
        "Checksum mismatch",
      );
    },
  },
  {
    id: "AGENT-SCRIPT-004",
    number: 25,
    name: "drain refuses a status call and an update without specification",
    run: async ({ agent }) => {
      expectIncludes(await agent.failure("drain", ["status"]), "Unexpected call with drain type 'status'");
      expectIncludes(await agent.failure("drain", ["update"]), "Drain update requires new spec");
    },
  },
  {
    id: "AGENT-WIRE-009",
    number: 29,
    name: "ping is answered while tasks wait their turn",
    run: async ({ agent }) => {
      const tasks = ["prepare", "prepare", "prepare"].map((method) => agent.send(method, [{}]));
      expectEqual(await agent.value("ping"), "pong", "ping");
      for (const reply of await Promise.all(tasks)) expectTrue("value" in reply, "prepare was refused");
    },
  },
  {
    id: "AGENT-WIRE-010",
    number: 30,
    part: "H",
    name: "a reply of more than 1 MiB is delivered whole over HTTPS",
    needs: ["https"],
    run: async ({ https, network }) => {
      const agent = given(https);
      const filler = "x".repeat(2 << 20);
      await agent.value("apply", [{ networks: { [network]: { type: "manual", filler } } }]);
      const state = (await agent.value("get_state")) as { networks: Record<string, { filler?: unknown }> };
      expectTrue(state.networks[network]?.filler === filler, "what came back is not what was sent");
      await agent.value("apply", [{ networks: {} }]);
    },
  },
  {
    id: "AGENT-BLOB-003",
    number: 33,
    name: "log kinds are checked and filters may be null",
    run: async ({ agent }) => {
      expectIncludes(await agent.failure("fetch_logs", ["bad", []]), "Invalid log type");
      const result = (await agent.value("bundle_logs", [{ log_type: "agent", filters: null }])) as {
        logs_tar_path: string;
      };
      await agent.value("remove_file", [result.logs_tar_path]);
    },
  },
  {
    id: "AGENT-BLOB-004",
    number: 34,
    name: "bundle_logs and remove_file belong together",
    run: async ({ agent }) => {
      const result = (await agent.value("bundle_logs", [{ log_type: "job" }])) as {
        logs_tar_path: string;
        sha512: string;
      };
      expectTrue(result.sha512.startsWith("sha512:"), "sha512");
      expectEqual(await agent.value("remove_file", [result.logs_tar_path]), result.logs_tar_path, "path");
      expectEqual(
        await agent.value("remove_file", [result.logs_tar_path]),
        result.logs_tar_path,
        "path, again",
      );
    },
  },
  {
    id: "AGENT-DISK-003",
    number: 39,
    name: "mount_disk of an unknown disk says so",
    run: async ({ agent }) =>
      expectIncludes(await agent.failure("mount_disk", ["no-such-disk"]), "could not be found"),
  },
  {
    id: "AGENT-BLOB-002",
    number: 53,
    name: "blobs are kept by the last part of their path",
    needs: ["https"],
    run: async ({ https, uuid }) => {
      const agent = given(https);
      const id = uuid();
      expectEqual((await agent.http("PUT", `/blobs/ab/${id}`, "bytes")).status, 201, "PUT");
      const got = await agent.http("GET", `/blobs/zz/${id}`);
      expectEqual([got.status, got.body], [200, "bytes"], "GET");
      expectEqual((await agent.http("GET", `/blobs/ab/${uuid()}`)).status, 404, "unknown blob");
    },
  },
];
