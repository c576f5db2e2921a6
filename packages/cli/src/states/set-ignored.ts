import { piece } from "../api/request-path.ts";
import type { TypedInput } from "../command.ts";
import type { Tools } from "../tools.ts";
import { instanceSlug } from "./slug.ts";

export async function setIgnored(ignore: boolean, given: TypedInput, tools: Tools): Promise<number> {
  const api = await tools.director();
  const deployment = piece(tools.mustDeployment());
  const { group, id } = instanceSlug(given.argument(0) ?? "");
  await api.text({
    method: "PUT",
    path: `/deployments/${deployment}/instance_groups/${piece(group)}/${piece(id)}/ignore`,
    contentType: "application/json",
    body: JSON.stringify({ ignore }),
  });
  return 0;
}
