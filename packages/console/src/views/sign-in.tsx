import { info } from "@slipway/protocol/director/info";
import { useState } from "preact/hooks";
import { basicCredentials, Client } from "../api/client.ts";
import type { Session } from "./session.ts";

/** Asks for credentials and tries them. They stay in the memory of this page. */
export function SignIn({
  note,
  onSignedIn,
  onRefused,
}: {
  readonly note: string;
  readonly onSignedIn: (session: Session) => void;
  readonly onRefused: () => void;
}) {
  const [trouble, setTrouble] = useState(note);
  const [busy, setBusy] = useState(false);
  const submit = async (form: HTMLFormElement) => {
    const field = (name: string) => (form.elements.namedItem(name) as HTMLInputElement).value;
    const token = field("token").trim();
    const authorization =
      token === "" ? basicCredentials(field("name"), field("password")) : `Bearer ${token}`;
    setBusy(true);
    const client = new Client(authorization, onRefused);
    const answer = await client.get("/info", info);
    setBusy(false);
    if (answer.kind !== "value") return setTrouble(answer.kind === "problem" ? answer.problem.why : "");
    const { value } = answer;
    if (value.user == null) return setTrouble("The Director does not know this name with this password.");
    onSignedIn({ client, info: value });
  };
  return (
    <main class="sign-in">
      <h1>Slipway</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        <label>
          Name
          <input name="name" autocomplete="username" autofocus />
        </label>
        <label>
          Password
          <input name="password" type="password" autocomplete="current-password" />
        </label>
        <details>
          <summary>Use an access token</summary>
          <label>
            Token of a UAA
            <input name="token" type="password" autocomplete="off" />
          </label>
        </details>
        <button type="submit" disabled={busy}>
          Sign in
        </button>
        <p role="alert" class="trouble">
          {trouble}
        </p>
      </form>
      <p class="faint">
        Users of the <code>bosh</code> command sign in here, too. <code>slipway console</code> says where the
        password is. This page forgets it when it is closed or reloaded.
      </p>
    </main>
  );
}
