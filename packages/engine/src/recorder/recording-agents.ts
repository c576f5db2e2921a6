import { messageTrail } from "@slipway/kernel/errors";
import { AGENT_MESSAGES, type AgentMessageName } from "@slipway/protocol/agent/messages";
import { REDACTED, redact, secretsIn } from "@slipway/protocol/schema/redact";
import { hiddenFrom, scrubber } from "@slipway/protocol/schema/scrub";
import type { Agent, Agents, AskOptions } from "../agents/agent.ts";
import type { CallRecorder } from "../call-log/call-log.ts";

/** The same agents; every message to them is recorded. */
export const recordingAgents = (agents: Agents, recorder: CallRecorder): Agents => ({
  agent: (address) => recordingAgent(agents.agent(address), `agent:${address.agentId}`, recorder),
  introduce: (vm) => agents.introduce(vm),
  urlFor: (networks) => agents.urlFor(networks),
  renewal: (vm) => agents.renewal(vm),
});

function recordingAgent(agent: Agent, to: string, recorder: CallRecorder): Agent {
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
      const value = await work({ ...asked, noted } as O);
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
        full ? ["full"] : [],
        o,
        (asked) => agent.getState(full, asked),
        // The rest is what the agent was told before, and measurements.
        ({ jobState }) => ({ job_state: jobState }),
      ),
    apply: (spec, o) => tell("apply", [spec], o, (asked) => agent.apply(spec, asked)),
    prepare: (spec, o) => tell("prepare", [spec], o, (asked) => agent.prepare(spec, asked)),
    start: (o) => tell("start", [], o, (asked) => agent.start(asked)),
    stop: (o) => tell("stop", [], o, (asked) => agent.stop(asked)),
    drain: (type, spec, o) => tell("drain", [type, spec], o, (asked) => agent.drain(type, spec, asked)),
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
    mountDisk: (cid, o) => tell("mount_disk", [cid], o, (asked) => agent.mountDisk(cid, asked)),
    unmountDisk: (cid, o) => tell("unmount_disk", [cid], o, (asked) => agent.unmountDisk(cid, asked)),
    migrateDisk: (from, to, o) =>
      tell("migrate_disk", [from, to], o, (asked) => agent.migrateDisk(from, to, asked)),
    updateSettings: (settings, o) =>
      tell("update_settings", [settings], o, (asked) => agent.updateSettings(settings, asked)),
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
