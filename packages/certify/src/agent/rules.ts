/** Groups of rules, in the order of reports. */
export const AGENT_AREAS = {
  wire: "Messages and replies",
  state: "Specification and state",
  blobs: "Blobs and logs",
  disks: "Disks",
  jobs: "Jobs and processes",
  scripts: "Scripts, drains and errands",
  compile: "Compilation",
  machine: "The machine",
  bus: "NATS",
  start: "Starts and restarts",
  stories: "Whole stories",
} as const;

export type AgentArea = keyof typeof AGENT_AREAS;

/** Text of one rule of agents. Its id is its key in the table and never changes its meaning. */
export interface AgentRuleText {
  readonly area: AgentArea;
  /** Directors rely on core rules; an agent may do without what extended ones ask for. */
  readonly level: "core" | "extended";
  /** Sentence of the contract. */
  readonly contract: string;
  /** Cost of a violation to an operator. */
  readonly cost: string;
}

/** Version of the rules, for receipts: changes with every rule that is added, removed or read differently. */
export const AGENT_RULES_VERSION = "1.0";

type Line = readonly [contract: string, cost: string];

const rule = (area: AgentArea, level: AgentRuleText["level"], [contract, cost]: Line): AgentRuleText => ({
  area,
  level,
  contract,
  cost,
});
const core = (area: AgentArea, ...line: Line) => rule(area, "core", line);
const extended = (area: AgentArea, ...line: Line) => rule(area, "extended", line);

/** Every rule of agents by its id, in the order of the page. The title of a rule is the name of its check. */
export const AGENT_RULES = {
  "AGENT-WIRE-001": core(
    "wire",
    "The agent answers `ping` with `pong` to a POST to `/agent`.",
    "`create-env` waits for an agent that is there, and gives up.",
  ),
  "AGENT-WIRE-002": core(
    "wire",
    "Without the user and password of `mbus` the agent answers 401; an unknown path is 404.",
    "Whoever reaches the port can run any job as root.",
  ),
  "AGENT-WIRE-003": core(
    "wire",
    "A body that is not JSON gets status 500 and changes nothing.",
    "One broken request takes the agent away from its Director.",
  ),
  "AGENT-WIRE-004": core(
    "wire",
    "A message that the agent does not know gets the exception `unknown message NAME`.",
    "A newer Director cannot tell an old agent from a broken one, and fails instead of doing without.",
  ),
  "AGENT-WIRE-005": core(
    "wire",
    "`info` says which version of the agent's API is spoken.",
    "A Director does not know whether it may send disk hints.",
  ),
  "AGENT-WIRE-006": core(
    "wire",
    "`get_task` and `cancel_task` of an unknown task are exceptions.",
    "After a restart of the agent a Director waits for a task that no longer exists.",
  ),
  "AGENT-WIRE-007": core(
    "wire",
    "A message that is a task answers with a task id, and what is wrong with its arguments is told by `get_task`.",
    "A Director takes a refusal for a lost message and sends it again.",
  ),
  "AGENT-WIRE-008": extended(
    "wire",
    "Arguments beyond those an agent knows are ignored.",
    "A newer Director that sends one argument more fails on every old VM.",
  ),
  "AGENT-WIRE-009": core(
    "wire",
    "`ping` is answered while tasks run or wait.",
    "A VM that compiles for long is taken for dead and replaced.",
  ),
  "AGENT-WIRE-010": core(
    "wire",
    "Over HTTPS a reply has no limit of size.",
    "Large states arrive cut off, and the deploy fails at a place that has nothing to do with it.",
  ),
  "AGENT-STATE-001": core(
    "state",
    "`get_state` has the applied specification, the VM, the job's state; vitals only when `full` is asked for.",
    "The Director shows and plans with a state that is not the VM's.",
  ),
  "AGENT-STATE-002": core(
    "state",
    "`apply` stores the specification and writes the files of the instance: id, name, deployment, zone.",
    "Jobs that read these files run as another instance, or not at all.",
  ),
  "AGENT-STATE-003": core(
    "state",
    "A specification with a network that the settings do not have is refused.",
    "A VM is recorded with an address that it does not have.",
  ),
  "AGENT-STATE-004": extended(
    "state",
    "Keys of networks that the agent does not know come back in `get_state`.",
    "The Director sees a difference at every deploy and updates the instance each time.",
  ),
  "AGENT-BLOB-001": core(
    "blobs",
    "`upload_blob` takes base64 with line breaks, and refuses content of another digest.",
    "A package that was damaged on its way is installed.",
  ),
  "AGENT-BLOB-002": extended(
    "blobs",
    "A blob is stored under the last part of its path.",
    "A crafted blob id writes anywhere on the disk of the VM.",
  ),
  "AGENT-BLOB-003": core(
    "blobs",
    "`fetch_logs` knows the kinds `job`, `agent` and `system`; filters may be null.",
    "`bosh logs` fails, or fetches something else.",
  ),
  "AGENT-BLOB-004": extended(
    "blobs",
    "`bundle_logs` leaves a file that `remove_file` removes, and `remove_file` removes nothing else.",
    "Fetched logs fill the disk of the VM.",
  ),
  "AGENT-DISK-001": core(
    "disks",
    "`add_persistent_disk` stores the hint, `remove_persistent_disk` removes it, in the agent's own file.",
    "After a restart without a registry the agent does not find the disk.",
  ),
  "AGENT-DISK-002": core(
    "disks",
    "`mount_disk` mounts a disk at `/var/vcap/store`, once, and `list_disk` lists it.",
    "Data is written to the root disk and is gone with the VM.",
  ),
  "AGENT-DISK-003": core(
    "disks",
    "`mount_disk` of a disk that the agent does not know is an exception.",
    "Another disk, or none, is taken for the persistent one.",
  ),
  "AGENT-DISK-004": core(
    "disks",
    "A second disk is mounted beside the first; `migrate_disk` copies the data and the second takes its place.",
    "Resizing a disk loses its data.",
  ),
  "AGENT-DISK-005": core(
    "disks",
    "A disk with a file system keeps it, whatever `persistent_disk_fs` asks for.",
    "Changing one setting formats a disk with data.",
  ),
  "AGENT-DISK-006": extended(
    "disks",
    "The file system of a disk that was enlarged in the cloud grows when it is mounted.",
    "A disk that was paid for stays full.",
  ),
  "AGENT-DISK-007": core(
    "disks",
    "`unmount_disk` of a disk that is not mounted succeeds and says so.",
    "A deploy that is tried again stops at a VM whose disk is already free.",
  ),
  "AGENT-DISK-008": extended(
    "disks",
    "`associate_disks` links disks by their names, and refuses unknown ones.",
    "A job with several disks writes to the wrong one.",
  ),
  "AGENT-JOB-001": core(
    "jobs",
    "`prepare` downloads and unpacks, and changes neither links nor specification.",
    "A VM that is prepared while its jobs run already runs half of the new version.",
  ),
  "AGENT-JOB-002": core(
    "jobs",
    "`apply` links jobs and packages, with modes and log directories as upstream has them.",
    "Jobs do not find their packages, or may not read their files.",
  ),
  "AGENT-JOB-003": core(
    "jobs",
    "Archives with and without a leading `./` install the same files.",
    "Releases of some makers install into the wrong place.",
  ),
  "AGENT-JOB-004": core(
    "jobs",
    "A job or package that a specification leaves out loses its link and its bundle.",
    "Removed jobs go on running, and old packages fill the disk.",
  ),
  "AGENT-JOB-005": core(
    "jobs",
    "`start` writes the monitor's configuration and starts the jobs; `get_state` lists their processes.",
    "A deploy succeeds and nothing runs.",
  ),
  "AGENT-JOB-006": core(
    "jobs",
    "`stop` of protocol 3 answers when the processes have ended.",
    "A disk is unmounted under a process that still writes.",
  ),
  "AGENT-JOB-007": core(
    "jobs",
    "A process that dies is started again.",
    "A crash at night lasts until someone wakes up.",
  ),
  "AGENT-JOB-008": core(
    "jobs",
    "A process that died is reported as one alert of severity 1.",
    "No operator hears of crashes, or hears so often that nobody listens.",
  ),
  "AGENT-SCRIPT-001": core(
    "scripts",
    "`run_script` runs the script of every job, counts those that failed, and appends to their logs.",
    "A failed pre-start passes for a success.",
  ),
  "AGENT-SCRIPT-002": core(
    "scripts",
    "Scripts get the environment of the message and a fixed `PATH`.",
    "Scripts work on one stemcell and not on the next.",
  ),
  "AGENT-SCRIPT-003": core(
    "scripts",
    "Drain scripts get what changes; the number that they print says how long to wait, and whether to ask again.",
    "Processes are ended in the middle of their work.",
  ),
  "AGENT-SCRIPT-004": core(
    "scripts",
    "`drain` with `status`, or `update` without a specification, is refused.",
    "A drain that never ran passes for one that did.",
  ),
  "AGENT-SCRIPT-005": core(
    "scripts",
    "A canceled errand gets SIGTERM.",
    "A canceled task goes on changing things.",
  ),
  "AGENT-SCRIPT-006": core(
    "scripts",
    "An errand that ignores SIGTERM is killed ten seconds later.",
    "An errand that hangs blocks its instance for good.",
  ),
  "AGENT-SCRIPT-007": core(
    "scripts",
    "The exit code of an errand is in its result; an errand that does not exist is an exception.",
    "A failed errand and a misspelled one look the same.",
  ),
  "AGENT-COMPILE-001": core(
    "compile",
    "`compile_package` runs the packaging script with its dependencies in place, and leaves nothing behind.",
    "A reused compilation VM builds packages that hold parts of others.",
  ),
  "AGENT-COMPILE-002": extended(
    "compile",
    "`compile_package_with_signed_url` uploads with length and headers, and answers with both digests.",
    "Compilation fails with blob stores that want signed addresses.",
  ),
  "AGENT-MACHINE-001": core(
    "machine",
    "`ssh` makes users whose names begin with `bosh_`, and removes those and no others.",
    "Cleaning up after `bosh ssh` removes an account of the machine.",
  ),
  "AGENT-MACHINE-002": core(
    "machine",
    "`sync_dns` takes records of a newer version with the right digest, and no others.",
    "Names lead to VMs that are long gone.",
  ),
  "AGENT-MACHINE-003": core(
    "machine",
    "`update_settings` makes the trusted certificates exactly those that were sent.",
    "A certificate that was withdrawn is still trusted.",
  ),
  "AGENT-BUS-001": core(
    "bus",
    "The agent answers on the subject that `reply_to` names, within a second.",
    "The Director takes the VM for dead.",
  ),
  "AGENT-BUS-002": core(
    "bus",
    "A message that is not JSON gets no answer and changes nothing.",
    "One broken message takes the agent off the bus.",
  ),
  "AGENT-BUS-003": core(
    "bus",
    "A reply of more than 1 MiB is replaced by an exception.",
    "NATS closes the connection, and the agent is gone without a word.",
  ),
  "AGENT-BUS-004": core(
    "bus",
    "`drain shutdown` sends `null` to the Health Monitor.",
    "A VM that is stopped on purpose is resurrected.",
  ),
  "AGENT-BUS-005": extended(
    "bus",
    "The first heartbeat comes as soon as the agent is connected.",
    "A new VM is unknown to the Health Monitor for half a minute.",
  ),
  "AGENT-BUS-006": core(
    "bus",
    "Heartbeats come every 30 seconds.",
    "VMs are taken for dead, or dead ones for alive.",
  ),
  "AGENT-BUS-007": core(
    "bus",
    "An agent connects again when NATS comes back.",
    "A restart of the Director's VM orphans the whole fleet.",
  ),
  "AGENT-BUS-008": core(
    "bus",
    "An agent that starts before NATS connects when it is there.",
    "After a power cut the order of starts decides which VMs come back.",
  ),
  "AGENT-BUS-009": core(
    "bus",
    "A server whose certificate has another name than NATS's is refused.",
    "Any VM of the fleet can play the Director to the others.",
  ),
  "AGENT-START-001": core(
    "start",
    "After a reboot the persistent disk is mounted before `ping` is answered.",
    "Jobs start on an empty directory and initialize their data anew.",
  ),
  "AGENT-START-002": core(
    "start",
    "After a reboot the jobs run again, without pre-start.",
    "A reboot needs an operator, or migrates data twice.",
  ),
  "AGENT-START-003": extended(
    "start",
    "A new certificate of `update_settings` is in use when its task is done, also across a restart.",
    "Certificates can be renewed by replacing every VM only.",
  ),
  "AGENT-START-004": core(
    "start",
    "If the source of settings is gone, the agent starts from those it has stored.",
    "A reboot without the metadata service loses the VM.",
  ),
  "AGENT-START-005": extended(
    "start",
    "Two known disks without an association keep a restarted agent from answering.",
    "A crash in the middle of a migration mounts the wrong one of two disks.",
  ),
  "AGENT-START-006": extended(
    "start",
    "Two known disks with an association each let a restarted agent answer.",
    "A VM with several disks does not survive a reboot.",
  ),
  "AGENT-STORY-001": core(
    "stories",
    "All that `bosh create-env` asks works in its order, to `delete-env`.",
    "An environment cannot be made, resized or removed.",
  ),
  "AGENT-STORY-002": core(
    "stories",
    "All that a Director asks works in its order: deploy, recreate, resize, errands, repair.",
    "Deploys fail at a step that works when it is tried alone.",
  ),
} as const satisfies Readonly<Record<string, AgentRuleText>>;

export type AgentRuleId = keyof typeof AGENT_RULES;
