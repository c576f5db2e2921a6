import type { Command } from "../command.ts";

/** Ours: a receipt is worth what anyone can find out again. */
export const certifyVerify: Command = {
  name: "certify verify",
  summary: "compare a receipt with the CPI or agent that it is said to be about",
  topic: "documents",
  arguments: [
    { name: "<receipt>", about: "receipt.json of `slipway certify --report` or `certify-agent --report`" },
  ],
  options: [
    { flags: "--cpi <path>", about: "the executable of the CPI" },
    { flags: "--agent <path>", about: "the executable of the agent" },
  ],
  examples: [["slipway certify verify report/receipt.json --cpi ./my-cpi", "ends with 0 if it holds"]],
  async run(given, { ui }) {
    const [{ verifyFile }, { isVerified }] = await Promise.all([
      import("../certify-verify/verify-file.ts"),
      import("@slipway/certify/report/verify"),
    ]);
    const findings = await verifyFile({
      receipt: given.argument(0) ?? "",
      cpi: given.text("cpi"),
      agent: given.text("agent"),
    });
    for (const { ok, text } of findings) ui.line(`${ok ? "ok   " : "WRONG"}  ${text}`);
    return isVerified(findings) ? 0 : 1;
  },
};
