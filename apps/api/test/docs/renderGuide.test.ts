import { describe, expect, it } from "vitest"
import { html } from "../../src/docs/html.ts"
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

Table: Parts
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
      '<p class="lead">Read <code>a &#60; b</code> and <a href="#one">the <code>code</code></a>, with <strong>care</strong> for 2 items,\ntwice.</p>',
      '<h2 id="one">The first</h2>',
      "<ul>\n<li>an item\nof two lines</li>\n<li>another</li>\n</ul>",
      "<ol>\n<li>first</li>\n<li>second</li>\n</ol>",
      '<tr><th scope="row"><code>one</code></th><td>2</td></tr>',
      '<pre role="group" tabindex="0" aria-label="sample.ts"><code><span class="keyword">let</span> a = <span class="number">2</span>\n\n<span class="keyword">if</span> (a &lt; <span class="number">2</span>) {}</code></pre>',
      "<hr>",
    ]) {
      expect(markup).toContain(part)
    }
  })

  it("contains inserted Markdown: an index, and sections with named items", () => {
    const texts = {
      index: "- [ONE](#ONE)\n- [TWO](#TWO)",
      codes: `### <a id="ONE"></a>\`ONE\`

- **Status**: 404
- **By**: [a path](reference#a), \`x < y\`

### <a id="TWO"></a>\`TWO\`

- **Status**: 500`,
    }
    const { markup } = renderGuide("# A guide\n\n{{index}}\n\n{{codes}}\n\nThe end.\n", {}, texts)
    expect(markup).toBe(`<h1>A guide</h1>
<ul class="index">
<li><a href="#ONE">ONE</a></li>
<li><a href="#TWO">TWO</a></li>
</ul>
<section id="ONE">
<h3><a href="#ONE"><code>ONE</code></a></h3>
<dl>
<dt>Status</dt><dd>404</dd>
<dt>By</dt><dd><a href="reference#a">a path</a>, <code>x &#60; y</code></dd>
</dl>
</section>
<section id="TWO">
<h3><a href="#TWO"><code>TWO</code></a></h3>
<dl>
<dt>Status</dt><dd>500</dd>
</dl>
</section>

<p>The end.</p>
`)
  })

  it("is rejected if it names a missing value, or has a table without a caption for screen readers", () => {
    expect(() => renderGuide("# A guide\n\n| one |\n| --- |\n| 1 |\n", {})).toThrow("a table without")
    expect(() => renderGuide("# A guide\n\nNow {{count}} items.\n", {})).toThrow("a guide names count")
    expect(() => renderGuide("# A guide\n\n{{toString}}\n", {})).toThrow("a guide names toString")
  })
})
