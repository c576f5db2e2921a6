import type { ConversationLine } from "@slipway/protocol/director/conversation-line";
import { isObject } from "@slipway/protocol/schema/json";

/** Request and answer of a call, in words. Either may be empty: some calls say all by their name. */
export interface CallText {
  readonly said: string;
  readonly answered: string;
}

type Args = readonly unknown[];
type Tell = (args: Args, answer: unknown, line: ConversationLine) => Partial<CallText>;

const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? null));
const fields = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? { ...value } : {});
const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const names = (value: unknown): string => Object.keys(fields(value)).join(", ");
const yes = (answer: unknown): string => (answer === true ? "yes" : answer === false ? "no" : text(answer));

/** `default 10.0.0.2, other dynamic`. */
const networks = (value: unknown): string =>
  Object.entries(fields(value))
    .map(([name, network]) => `${name} ${text(fields(network).ip ?? fields(network).type ?? "")}`)
    .join(", ");

const nonempty = (prefix: string, rest: string): string => (rest === "" ? "" : `${prefix}${rest}`);

function created(answer: unknown, given: unknown): string {
  if (!Array.isArray(answer)) return `VM ${text(answer)}`;
  const [cid, own] = answer;
  const returned = networks(own);
  const same = returned === "" || returned === networks(given);
  return `VM ${text(cid)}${same ? "" : `, networks ${returned}`}`;
}

/** Version 1 returns nothing: the agent finds the disk in the registry. */
const hinted = (answer: unknown, { api_version: version = 1 }: ConversationLine): string =>
  version < 2 ? "nothing: the agent is to look in the registry" : `the hint ${text(answer)}`;

const one: Tell = ([cid]) => ({ said: text(cid) });

const WORDS: Readonly<Record<string, Tell>> = {
  info: (_, answer) => {
    const { api_version: version, stemcell_formats: formats } = fields(answer);
    return { answered: `it speaks version ${text(version ?? 1)}, and takes ${listed(formats).join(", ")}` };
  },
  create_stemcell: ([image], answer) => ({ said: text(image), answered: `stemcell ${text(answer)}` }),
  delete_stemcell: one,
  create_vm: ([agent, stemcell, , wanted, disks, env], answer) => ({
    said:
      `agent ${text(agent)} on stemcell ${text(stemcell)}, networks ${networks(wanted)}` +
      nonempty(", near disks ", listed(disks).map(text).join(", ")) +
      nonempty("; settings for the agent: ", names(fields(env).bosh)),
    answered: created(answer, wanted),
  }),
  delete_vm: one,
  reboot_vm: one,
  has_vm: ([cid], answer) => ({ said: text(cid), answered: yes(answer) }),
  has_disk: ([cid], answer) => ({ said: text(cid), answered: yes(answer) }),
  set_vm_metadata: ([cid, tags]) => ({ said: `${text(cid)}: ${names(tags)}` }),
  set_disk_metadata: ([cid, tags]) => ({ said: `${text(cid)}: ${names(tags)}` }),
  create_disk: ([size, , vm], answer) => ({
    said: `${text(size)} MiB${typeof vm === "string" ? ` for VM ${vm}` : ""}`,
    answered: `disk ${text(answer)}`,
  }),
  delete_disk: one,
  resize_disk: ([cid, size]) => ({ said: `${text(cid)} to ${text(size)} MiB` }),
  update_disk: ([cid, size], answer) => ({
    said: `${text(cid)} to ${text(size)} MiB`,
    answered: `disk ${text(answer)}`,
  }),
  attach_disk: ([vm, disk], answer, line) => ({
    said: `disk ${text(disk)} to VM ${text(vm)}`,
    answered: hinted(answer, line),
  }),
  detach_disk: ([vm, disk]) => ({ said: `disk ${text(disk)} from VM ${text(vm)}` }),
  ping: (_, __, { polls }) => ({ answered: polls === undefined ? "pong" : "ready" }),
  get_state: (_, answer) => ({ answered: text(fields(answer).job_state ?? "") }),
  apply: ([spec]) => ({ said: identity(spec) }),
  prepare: ([spec]) => ({ said: identity(spec) }),
  drain: ([type]) => ({ said: text(type) }),
  run_script: ([name]) => ({ said: text(name) }),
  list_disk: (_, answer) => ({ answered: listed(answer).map(text).join(", ") || "none" }),
  add_persistent_disk: ([cid, hint]) => ({ said: `disk ${text(cid)} is found by ${text(hint)}` }),
  remove_persistent_disk: one,
  mount_disk: one,
  unmount_disk: one,
  migrate_disk: ([from, to]) => ({ said: `from ${text(from)} to ${text(to)}` }),
  update_settings: ([settings]) => ({ said: names(settings) }),
  write_store_file: ([file]) => ({ said: text(fields(file).path) }),
  read_store_file: ([file]) => ({ said: text(fields(file).path) }),
};

function identity(spec: unknown): string {
  const { deployment, job, index, networks: own, persistent_disk: disk } = fields(spec);
  const name = fields(job).name;
  return (
    `${text(deployment)}, ${text(name)}/${text(index)}, networks ${networks(own)}` +
    (typeof disk === "number" && disk > 0 ? `, a persistent disk of ${disk} MiB` : "")
  );
}

/** A message that is not known here is shown as it was. */
export function callText(line: ConversationLine): CallText {
  const args = listed(line.request);
  const tell = Object.hasOwn(WORDS, line.message) ? WORDS[line.message] : undefined;
  const told =
    tell === undefined
      ? { said: args.map(text).join(", "), answered: line.answer === undefined ? "" : text(line.answer) }
      : tell(args, line.answer, line);
  const answered = line.error === undefined ? (told.answered ?? "") : "";
  return { said: told.said ?? "", answered };
}
