import { LONGEST_VM_LOG, VM_IS_OFF } from "@slipway/protocol/cpi/methods/get_vm_log";
import { secretsIn } from "@slipway/protocol/schema/redact";
import { scrubber, scrubUrls } from "@slipway/protocol/schema/scrub";
import { agentSettings } from "@slipway/protocol/settings/agent-settings";

/**
 * Returns the result of get_vm_log: the end of a log, in whole lines, without the credentials of the settings that
 * the VM has got. `userData` is what `create_vm` handed to it; a text that is not JSON hides nothing of its own.
 * `off`: the VM does not run.
 */
export function vmLog(log: string, userData: string, { off = false } = {}): string {
  const secrets = secretsIn(agentSettings, jsonOf(userData));
  const written = scrubUrls(scrubber(secrets)(log));
  const clean = off ? `${written}${/[^\n]$/.test(written) ? "\n" : ""}${VM_IS_OFF}\n` : written;
  if (clean.length <= LONGEST_VM_LOG) return clean;
  const end = clean.slice(-LONGEST_VM_LOG);
  return end.slice(end.indexOf("\n") + 1);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
