import { render } from "preact";
import { App } from "./views/app.tsx";

const root = document.getElementById("page");
if (root !== null) {
  root.textContent = "";
  render(<App />, root);
}
