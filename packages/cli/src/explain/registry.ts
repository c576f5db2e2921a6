import type { ConversationLine } from "@slipway/protocol/director/conversation-line";
import { negotiate } from "@slipway/protocol/negotiate";
import { type Conversation, isCpi } from "./read.ts";

/** Calls that would use the registry in a mix that needs it. */
const USERS = ["create_vm", "attach_disk", "detach_disk", "delete_vm"];

const old = ({ api_version: version = 1, stemcell_api_version: stemcell = 1 }: ConversationLine): boolean =>
  version < 2 || stemcell < 2;

/** Whether a registry was involved, in a sentence. */
export function registrySentence({ calls }: Conversation): string {
  const about = calls.filter((call) => isCpi(call) && USERS.includes(call.message));
  if (about.length === 0) return "Nothing was asked of a CPI for which a registry could matter.";
  const through = about.filter((call) => call.registry === true || old(call));
  if (through.length === 0)
    return "No registry was involved: what the agents had to know went with create_vm and as disk hints.";
  const first = through.find(old);
  const names = [...new Set(through.map(({ message }) => message))].join(", ");
  return `A registry was involved, in ${names}${first === undefined ? "" : `: ${why(first)}`}.`;
}

function why({ api_version: version, stemcell_api_version: stemcell }: ConversationLine): string {
  const agreed = negotiate({ director: version, cpi: version, stemcell });
  return agreed.outcome === "agreed" ? agreed.reason : agreed.problems.join("; ");
}
