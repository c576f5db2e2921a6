import { defineError } from "@slipway/kernel/errors";
import { typedConfig } from "@slipway/protocol/director/config";
import * as v from "valibot";
import type { Tools } from "../tools.ts";

const SHOWN = { cloud: "cloud", runtime: "runtime", cpi: "CPI" } as const;

/** The latest of `/cloud_configs` and its like, as it was saved. */
export async function printTypedConfig(
  type: keyof typeof SHOWN,
  name: string | undefined,
  { ui, director }: Pick<Tools, "ui" | "director">,
): Promise<number> {
  const api = await director();
  const [latest] = await api.json(
    { method: "GET", path: `/${type}_configs`, query: { limit: "1", name } },
    v.array(typedConfig),
  );
  if (latest === undefined)
    throw NoConfig({
      what: `${SHOWN[type]} config${name ? ` '${name}'` : ""}`,
      command: `update-${type}-config`,
    });
  ui.block(latest.properties);
  return 0;
}

export const NoConfig = defineError<{ what: string; command: string }>({
  code: "CLI-049",
  kind: "operator",
  message: (p) => `there is no ${p.what}`,
  next: "`slipway {command} FILE` saves one. `slipway configs` lists what there is.",
});
