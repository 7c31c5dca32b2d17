import { html } from "@outreach/process/html"
import { describe, expect, it } from "vitest"
import { renderGuide } from "../../src/docs/renderGuide.ts"

const GUIDE = `# A guide

Read \`a < b\` and [the \`code\`](#one), with **care** for {{count}} items,
twice.

## The first {#one}

- an item
  of two lines
- another

1. first
2. second

| part | what |
| --- | --- |
| \`one\` | {{count}} |

\`\`\`sample.ts
let a = {{count}}

if (a < 2) {}
\`\`\`

{{block}}
`

describe("a guide", () => {
  it("is rendered block by block, with its values", () => {
    const { markup } = renderGuide(GUIDE, { count: 2, block: html`<hr>` })
    for (const part of [
      "<h1>A guide</h1>",
      '<p class="lead">Read <code>a &lt; b</code> and <a href="#one">the <code>code</code></a>, with <strong>care</strong> for 2 items,\ntwice.</p>',
      '<h2 id="one">The first</h2>',
      "<ul>\n<li>an item\nof two lines</li>\n<li>another</li>\n</ul>",
      "<ol>\n<li>first</li>\n<li>second</li>\n</ol>",
      '<th scope="row"><code>one</code></th>\n<td>2</td>',
      '<pre role="group" tabindex="0" aria-label="sample.ts"><code><span class="keyword">let</span> a = <span class="number">2</span>\n\n<span class="keyword">if</span> (a &lt; <span class="number">2</span>) {}</code></pre>',
      "<hr>",
    ]) {
      expect(markup).toContain(part)
    }
  })

  it("contains inserted Markdown, whose headings with an anchor link to themselves", () => {
    const codes = '### <a id="ONE"></a>`ONE`\n\n- **By**: [a path](reference#a), `x < y`'
    const { markup } = renderGuide("# A guide\n\n{{codes}}\n\nThe end.\n", {}, { codes })
    expect(markup).toBe(`<h1>A guide</h1>
<h3 id="ONE"><a href="#ONE"><code>ONE</code></a></h3>
<ul>
<li><strong>By</strong>: <a href="reference#a">a path</a>, <code>x &lt; y</code></li>
</ul>
<p>The end.</p>
`)
  })

  it("labels a table by its heading, and is rejected if it names a missing value", () => {
    expect(renderGuide("# A guide\n\n## Parts {#parts}\n\n| one |\n| --- |\n| 1 |\n", {}).markup).toContain(
      'aria-label="Parts"',
    )
    expect(() => renderGuide("# A guide\n\nNow {{count}} items.\n", {})).toThrow("a guide names count")
    expect(() => renderGuide("# A guide\n\n{{toString}}\n", {})).toThrow("a guide names toString")
  })
})
