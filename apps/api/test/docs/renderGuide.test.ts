import { describe, expect, it } from "vitest"
import { renderGuide } from "../../src/docs/renderGuide.ts"

const GUIDE = `# A guide

Read \`a < b\` and [the \`code\`](#one), with **care** for {{count}} items,
twice.

## The first {#one}

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
    const block = "### Of `code` {#two}\n\n- **By**: [a path](reference#a), `x < y`"
    const { markup } = renderGuide(GUIDE, { count: 2, block })
    for (const part of [
      "<h1>A guide</h1>",
      '<p class="lead">Read <code>a &lt; b</code> and <a href="#one">the <code>code</code></a>, with <strong>care</strong> for 2 items,\ntwice.</p>',
      '<h2 id="one">The first</h2>',
      '<th scope="row"><code>one</code></th>\n<td>2</td>',
      '<pre role="group" tabindex="0" aria-label="sample.ts"><code><span class="keyword">let</span> a = <span class="number">2</span>\n\n<span class="keyword">if</span> (a &lt; <span class="number">2</span>) {}</code></pre>',
      '<h3 id="two"><a href="#two">Of <code>code</code></a></h3>',
      '<li><strong>By</strong>: <a href="reference#a">a path</a>, <code>x &lt; y</code></li>',
    ]) {
      expect(markup).toContain(part)
    }
  })

  it("labels a table by its heading, and is rejected if it names a missing value", () => {
    const rows = "\n\n| one |\n| --- |\n| 1 |\n"
    const { markup } = renderGuide(`# A guide\n\n## Parts {#parts}${rows}\n### First {#first}\n\n#### Rows${rows}`, {})
    expect([...markup.matchAll(/region" aria-label="(.*?)"/g)].map(([, label]) => label)).toEqual([
      "Parts",
      "Rows: First",
    ])
    expect(() => renderGuide("# A guide\n\nNow {{count}} items.\n", {})).toThrow("a guide names count")
    expect(() => renderGuide("# A guide\n\n{{toString}}\n", {})).toThrow("a guide names toString")
  })
})
