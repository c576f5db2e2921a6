import { defineError } from "@slipway/kernel/errors";

/** First words as upstream has them. */
export const CompileFailed = defineError<{ name: string; why: string }>({
  code: "AGF-010",
  kind: "outside",
  message: (p) => `Compiling package ${p.name}: ${p.why}`,
  next: "Correct what is said there and deploy again. What was half made is removed.",
});

export const PackagingFailed = defineError<{
  code: number;
  stdout: { readonly text: string; readonly cut: boolean };
  stderr: { readonly text: string; readonly cut: boolean };
}>({
  code: "AGF-011",
  kind: "operator",
  message: ({ code, stdout, stderr }) =>
    `Running packaging script: Command exited with ${code}; ` +
    `${stdout.cut ? "Truncated stdout" : "Stdout"}: ${stdout.text}, ` +
    `${stderr.cut ? "Truncated stderr" : "Stderr"}: ${stderr.text}`,
  next: "Correct the package's packaging script. Its whole output is in /var/vcap/sys/log/compilation until the next one.",
});

export const PackagingCutOff = defineError<{ why: string; stdout: string; stderr: string }>({
  code: "AGF-012",
  kind: "outside",
  message: (p) =>
    `Running packaging script: it was ended with all it had started: ${p.why}; Truncated stdout: ${p.stdout}, Truncated stderr: ${p.stderr}`,
  next: "Look at the last lines for what it waited for.",
});
