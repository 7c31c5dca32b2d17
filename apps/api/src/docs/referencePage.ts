import { html } from "./html.ts"

/** The frame that the viewer fills with the reference, and with the main element. */
export const referencePage = html`<div id="content" class="content">
<section aria-labelledby="title">
<h1 id="title">Reference</h1>
<p class="lead">Every endpoint, field and example, from the <a href="docs/../v1/openapi.json">OpenAPI document</a> that this deployment serves. The
guides tell how to <a href="docs/webhooks">receive webhooks</a> and what to do about <a href="docs/errors">errors</a>.</p>
<noscript><p>The viewer needs JavaScript. The OpenAPI document above holds the same.</p></noscript>
</section>
<div id="viewer"></div>
</div>`
