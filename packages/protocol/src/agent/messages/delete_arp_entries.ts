import * as v from "valibot";
import { jsonObject, open } from "../../schema/json.ts";
import { message, messageArg } from "../message.ts";

export const deleteArpEntries = message({
  name: "delete_arp_entries",
  summary: "Forgets the hardware addresses of other VMs.",
  args: [messageArg("addresses", open({ ips: v.optional(v.nullable(v.array(v.string()))) }), "")],
  mode: "answer",
  result: jsonObject(),
  upstream: true,
});
