import { messageTrail } from "@slipway/kernel/errors";
import { AGENT_MESSAGES, type AgentMessageName } from "@slipway/protocol/agent/messages";
import { REDACTED, redact, secretsIn } from "@slipway/protocol/schema/redact";
import { hiddenFrom, scrubber } from "@slipway/protocol/schema/scrub";
import { type Agent, type Agents, type AskOptions, stateFilters } from "../agents/agent.ts";
import type { CallRecorder } from "../call-log/call-log.ts";

/** Returns the same agents; every message to them is recorded. `waits` is called for answers that take long. */
export const recordingAgents = (
  agents: Agents,
  recorder: CallRecorder,
  waits?: AskOptions["waits"],
): Agents => ({
  agent: (address) => recordingAgent(agents.agent(address), `agent:${address.agentId}`, recorder, waits),
  transport: agents.transport,
  introduce: (vm, by) => agents.introduce(vm, by),
  urlFor: (networks, by) => agents.urlFor(networks, by),
  renewal: (vm) => agents.renewal(vm),
  ready: () => agents.ready(),
  signerEnds: (by) => agents.signerEnds(by),
});

function recordingAgent(agent: Agent, to: string, recorder: CallRecorder, waits: AskOptions["waits"]): Agent {
  /** `shown`: what of the answer is worth a line; most answers say only that it is done. */
  const tell = async <T, O extends AskOptions>(
    message: AgentMessageName,
    args: readonly unknown[],
    asked: O | undefined,
    work: (asked: O) => Promise<T>,
    shown: (value: T) => unknown = () => undefined,
  ): Promise<T> => {
    const request = withoutSecrets(message, args);
    const record = recorder({ to, message, request });
    const noted: AskOptions["noted"] = (what) =>
      what === "polled" ? record.polled() : record.note("the agent does not know this message");
    try {
      const value = await work({ waits, ...asked, noted } as O);
      record.answered(shown(value));
      return value;
    } catch (error) {
      const hidden = [...secretsOf(message, args), ...hiddenFrom(args, request)];
      record.failed(scrubber(hidden)(messageTrail(error)));
      throw error;
    }
  };
  return {
    ping: (o) => tell("ping", [], o, (asked) => agent.ping(asked)),
    waitUntilReady: (o) => tell("ping", [], o, (asked) => agent.waitUntilReady(asked)),
    getState: (full, o) =>
      tell(
        "get_state",
        stateFilters(full),
        o,
        (asked) => agent.getState(full, asked),
        // The rest is the spec that the agent already has, and measurements.
        ({ jobState }) => ({ job_state: jobState }),
      ),
    apply: (spec, o) => tell("apply", [spec], o, (asked) => agent.apply(spec, asked)),
    prepare: (spec, o) => tell("prepare", [spec], o, (asked) => agent.prepare(spec, asked)),
    start: (o) => tell("start", [], o, (asked) => agent.start(asked)),
    stop: (o) => tell("stop", [], o, (asked) => agent.stop(asked)),
    drain: (type, spec, o) => tell("drain", [type, spec], o, (asked) => agent.drain(type, spec, asked)),
    // Their content is not for a log.
    putBlob: (id, content, o) => agent.putBlob(id, content, o),
    getBlob: (id, take, o) => agent.getBlob(id, take, o),
    removeBlob: (id, o) => agent.removeBlob(id, o),
    fetchLogs: (types, filters, o) =>
      tell(
        "fetch_logs",
        [types, filters],
        o,
        (asked) => agent.fetchLogs(types, filters, asked),
        ({ blobId, digest }) => ({ blobstore_id: blobId, sha1: digest }),
      ),
    sshSetup: (user, key, o) =>
      tell(
        "ssh",
        ["setup", { user, public_key: key }],
        o,
        (asked) => agent.sshSetup(user, key, asked),
        ({ ip }) => ({ ip }),
      ),
    sshCleanup: (regex, o) =>
      tell("ssh", ["cleanup", { user_regex: regex }], o, (asked) => agent.sshCleanup(regex, asked)),
    // What an errand says may hold anything.
    runErrand: (job, o) =>
      tell(
        "run_errand",
        job === undefined ? [] : [job],
        o,
        (asked) => agent.runErrand(job, asked),
        ({ exitCode }) => ({ exit_code: exitCode }),
      ),
    compilePackage: (source, dependencies, o) =>
      tell("compile_package", [source.blobId, source.digest, source.name, source.version, {}], o, (asked) =>
        agent.compilePackage(source, dependencies, asked),
      ),
    runScript: (name, env, o) =>
      tell("run_script", [name, { env }], o, (asked) => agent.runScript(name, env, asked)),
    listDisk: (o) =>
      tell(
        "list_disk",
        [],
        o,
        (asked) => agent.listDisk(asked),
        (cids) => cids,
      ),
    addPersistentDisk: (cid, hint, o) =>
      tell("add_persistent_disk", [cid, hint], o, (asked) => agent.addPersistentDisk(cid, hint, asked)),
    removePersistentDisk: (cid, o) =>
      tell("remove_persistent_disk", [cid], o, (asked) => agent.removePersistentDisk(cid, asked)),
    updatePersistentDisk: (cid, hint, o) =>
      tell("update_persistent_disk", [cid, hint], o, (asked) => agent.updatePersistentDisk(cid, hint, asked)),
    mountDisk: (cid, o) =>
      tell("mount_disk", o?.hint === undefined ? [cid] : [cid, o.hint], o, (asked) =>
        agent.mountDisk(cid, asked),
      ),
    unmountDisk: (cid, o) => tell("unmount_disk", [cid], o, (asked) => agent.unmountDisk(cid, asked)),
    migrateDisk: (from, to, o) =>
      tell("migrate_disk", [from, to], o, (asked) => agent.migrateDisk(from, to, asked)),
    updateSettings: (settings, o) =>
      tell("update_settings", [settings], o, (asked) => agent.updateSettings(settings, asked)),
    syncDns: (blob, o) =>
      tell("sync_dns", [blob.blobId, blob.digest, blob.version], o, (asked) => agent.syncDns(blob, asked)),
    writeStoreFile: (path, content, o) =>
      tell("write_store_file", [{ path, content }], o, (asked) => agent.writeStoreFile(path, content, asked)),
    readStoreFile: (path, o) =>
      tell("read_store_file", [{ path }], o, (asked) => agent.readStoreFile(path, asked)),
    shutdown: (o) => tell("shutdown", [], o, (asked) => agent.shutdown(asked)),
  };
}

function withoutSecrets(message: AgentMessageName, args: readonly unknown[]): readonly unknown[] {
  const known = AGENT_MESSAGES[message].args;
  return args.map((value, at) => {
    const argument = known[at];
    return argument === undefined ? REDACTED : redact(argument.schema, value);
  });
}

function secretsOf(message: AgentMessageName, args: readonly unknown[]): readonly string[] {
  const known = AGENT_MESSAGES[message].args;
  return args.flatMap((value, at) => {
    const argument = known[at];
    return argument === undefined ? [] : secretsIn(argument.schema, value);
  });
}
