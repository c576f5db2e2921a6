import { pathSegment } from "../api/request-path.ts";
import type { TypedInput } from "../command.ts";
import type { Tools } from "../tools.ts";
import { instanceSlug } from "./slug.ts";

export async function setIgnored(ignore: boolean, given: TypedInput, tools: Tools): Promise<number> {
  const api = await tools.director();
  const deployment = pathSegment(tools.mustDeployment());
  const { group, id } = instanceSlug(given.argument(0) ?? "");
  await api.text({
    method: "PUT",
    path: `/deployments/${deployment}/instance_groups/${pathSegment(group)}/${pathSegment(id)}/ignore`,
    contentType: "application/json",
    body: JSON.stringify({ ignore }),
  });
  return 0;
}
