import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { AwsService } from "../api/client.ts";
import type { QueryParameters } from "../api/query.ts";

const PAGE = 500;

/** All rows of a Describe action, page by page. */
export async function allPages<const N extends string, const S extends v.GenericSchema>(
  service: AwsService,
  action: string,
  list: N,
  row: S,
  parameters: QueryParameters,
): Promise<readonly v.InferOutput<S>[]> {
  const rows: v.InferOutput<S>[] = [];
  const page = open({ nextToken: v.optional(v.string()) });
  for (let token: string | undefined; ; ) {
    const found = await service.call(
      v.intersect([page, open({ [list]: v.optional(v.array(row)) })]) as unknown as v.GenericSchema<{
        readonly nextToken?: string;
      }>,
      action,
      { ...parameters, MaxResults: PAGE, NextToken: token },
    );
    rows.push(
      ...((found as unknown as Readonly<Record<string, v.InferOutput<S>[] | undefined>>)[list] ?? []),
    );
    if (!found.nextToken || found.nextToken === token) return rows;
    token = found.nextToken;
  }
}
