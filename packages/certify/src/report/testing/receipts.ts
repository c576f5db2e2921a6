import { RECEIPT_FORMAT, type Receipt, type RuleResult } from "../receipt.ts";

/** Text that tries to get out of whatever it is put into. */
export const HOSTILE = `</pre></script><script>alert(1)</script>"'&]]>\u0000\u001b[31m\u202egnp\ud800 --> <img src=x onerror=alert(1)>`;

export const passed = (id: string, over: Partial<RuleResult> = {}): RuleResult => ({
  id,
  title: "create_disk returns a disk id",
  area: "disks",
  level: "core",
  verdict: "passed",
  milliseconds: 12,
  ...over,
});

export const failed = (id: string, over: Partial<RuleResult> = {}): RuleResult =>
  passed(id, {
    verdict: "failed",
    reason: "has_disk says true after delete_disk",
    conversation: [
      { direction: "request", text: '{"method":"delete_disk","arguments":["disk-1"]}' },
      { direction: "response", text: '{"result":null,"error":null,"log":""}' },
      { direction: "request", text: '{"method":"has_disk","arguments":["disk-1"]}' },
      { direction: "response", text: '{"result":true,"error":null,"log":""}', marked: true },
    ],
    ...over,
  });

export const receiptWith = (results: readonly RuleResult[], over: Partial<Receipt> = {}): Receipt => ({
  format: RECEIPT_FORMAT,
  kind: "cpi",
  subject: { name: "my-cpi", sha256: "ab".repeat(32), info: { api_version: 2, stemcell_formats: ["raw"] } },
  rules: "1",
  date: "2026-11-19T12:00:00.000Z",
  seed: "7f3a",
  options: { versions: [1, 2], faults: false },
  results,
  ...over,
});

/** Receipt in which every text is hostile that the schema lets be so. */
export const hostileReceipt = (): Receipt =>
  receiptWith(
    [
      failed("CPI-DISK-001", {
        title: HOSTILE,
        area: HOSTILE,
        reason: HOSTILE,
        conversation: [{ direction: "stderr", text: HOSTILE, marked: true }],
      }),
      passed("CPI-DISK-002", { title: HOSTILE, area: HOSTILE, verdict: "not applicable", reason: HOSTILE }),
    ],
    {
      subject: { name: HOSTILE, sha256: "cd".repeat(32), info: { [HOSTILE]: HOSTILE } },
      rules: HOSTILE,
      seed: HOSTILE,
      options: { [HOSTILE]: HOSTILE },
      mixes: [
        {
          deployer: "Director",
          director: 2,
          cpi: 1,
          stemcell: 2,
          agent: HOSTILE,
          verdict: "failed",
          reason: HOSTILE,
          milliseconds: 5,
        },
      ],
    },
  );
