// Fills the reference page with the viewer. Runs in the browser.
const root = document.documentElement
const dark = matchMedia("(prefers-color-scheme: dark)")
const follow = () => root.classList.toggle("dark-mode", dark.matches)
dark.addEventListener("change", follow)
follow()

const spec = await (await fetch("docs/../v1/openapi.json")).json()
// The viewer sends examples unless told otherwise: every request that is tried out would have the same Idempotency-Key.
for (const operation of Object.values(spec.paths).flatMap(Object.values)) {
  for (const { in: place, schema } of operation.parameters ?? []) if (place === "header") delete schema.example
}

globalThis.SwaggerUIBundle({
  dom_id: "#viewer",
  spec,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  // A key that is typed in stays in this page's memory, and the policy lets it go nowhere but to this origin.
  persistAuthorization: false,
  validatorUrl: null,
  supportedSubmitMethods: ["get"],
})
