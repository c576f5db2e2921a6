import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The tiny CPI, but deaf to the stemcell's version: it takes every stemcell for a new one. */

interface Request {
  readonly context: { readonly vm?: { readonly stemcell: { api_version: number } } };
}

const request = JSON.parse(readFileSync(0, "utf8")) as Request;
if (request.context.vm !== undefined) request.context.vm.stemcell.api_version = 2;

const dir = mkdtempSync(join(tmpdir(), "slipway-deaf-"));
writeFileSync(join(dir, "request"), JSON.stringify(request));
closeSync(0);
// The lowest free descriptor is taken: this is stdin from now on.
openSync(join(dir, "request"), "r");
rmSync(dir, { recursive: true });

void import("../../../../examples/tiny-cpi/src/main.ts");
