import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ClientContext, useClient } from "../api/live.ts";
import { Contract } from "./contract.tsx";
import { DeploymentView } from "./deployment.tsx";
import { Configs, Events, Releases, Stemcells } from "./lists.tsx";
import { Overview } from "./overview.tsx";
import { taskIn, useRoute } from "./route.ts";
import { type Session, SessionContext } from "./session.ts";
import { SignIn } from "./sign-in.tsx";
import { TaskView } from "./task.tsx";
import { Tasks } from "./tasks.tsx";

const PAGES: readonly (readonly [path: string, name: string])[] = [
  ["", "Overview"],
  ["tasks", "Tasks"],
  ["events", "Events"],
  ["configs", "Configs"],
  ["releases", "Releases"],
  ["stemcells", "Stemcells"],
  ["contract", "Contract"],
];

/** The whole page. Signing out drops the credentials, which exist nowhere else. */
export function App() {
  const [session, setSession] = useState<Session>();
  const [note, setNote] = useState("");
  // Also called before there is a session: wrong credentials are refused by the form itself.
  const refused = () => {
    setSession(undefined);
    setNote("The Director does not accept these credentials any more.");
  };
  if (session === undefined)
    return <SignIn key={note} note={note} onSignedIn={setSession} onRefused={refused} />;
  const signOut = () => {
    setNote("");
    setSession(undefined);
  };
  return (
    <SessionContext.Provider value={session}>
      <ClientContext.Provider value={session.client}>
        <Frame session={session} onSignOut={signOut} />
      </ClientContext.Provider>
    </SessionContext.Provider>
  );
}

function Frame({ session, onSignOut }: { readonly session: Session; readonly onSignOut: () => void }) {
  const route = useRoute();
  const [page = ""] = route;
  const main = useRef<HTMLElement>(null);
  const place = route.slice(0, 2).join("/");
  const first = useRef(true);
  useEffect(() => {
    document.title = `${[...route].reverse().join(" · ") || "Overview"} · ${session.info.name}`;
    // A screen reader goes on at the new page; the first one is read from its top.
    if (!first.current) main.current?.focus();
    first.current = false;
  }, [place]);
  const open = (path: string) => path === page || (path === "" && page === "deployments");
  return (
    <>
      <header class="top">
        <a class="brand" href="#/">
          {session.info.name}
        </a>
        <nav aria-label="Pages">
          {PAGES.map(([path, name]) => (
            <a key={path} href={`#/${path}`} aria-current={open(path) ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <span class="user">
          {session.info.user}
          <button type="button" class="plain" onClick={onSignOut}>
            Sign out
          </button>
        </span>
      </header>
      <Connection />
      <main ref={main} tabIndex={-1}>
        <Page route={route} />
      </main>
    </>
  );
}

/** Says that what is shown may be old. */
function Connection() {
  const client = useClient();
  const [offline, setOffline] = useState(false);
  useEffect(() => client.watch(setOffline), [client]);
  return (
    <div role="status" class={offline ? "offline" : ""}>
      {offline && "The Director does not answer. What you see is from before; this page keeps asking."}
    </div>
  );
}

function Page({ route }: { readonly route: readonly string[] }): ComponentChildren {
  const [page = "", name, ...rest] = route;
  switch (page) {
    case "":
      return <Overview />;
    case "deployments":
      return name === undefined ? <Overview /> : <DeploymentView key={name} name={name} rest={rest} />;
    case "tasks": {
      const id = taskIn(name);
      return id === undefined ? <Tasks /> : <TaskView key={name} id={id} part={rest[0] ?? "timeline"} />;
    }
    case "events":
      return <Events />;
    case "configs":
      return <Configs />;
    case "releases":
      return <Releases />;
    case "stemcells":
      return <Stemcells />;
    case "contract":
      return <Contract />;
    default:
      return <p>There is no such page.</p>;
  }
}
