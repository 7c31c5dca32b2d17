import hljs from "highlight.js/lib/core"
import bash from "highlight.js/lib/languages/bash"
import csharp from "highlight.js/lib/languages/csharp"
import go from "highlight.js/lib/languages/go"
import java from "highlight.js/lib/languages/java"
import json from "highlight.js/lib/languages/json"
import php from "highlight.js/lib/languages/php"
import python from "highlight.js/lib/languages/python"
import ruby from "highlight.js/lib/languages/ruby"
import typescript from "highlight.js/lib/languages/typescript"
import { Html } from "./html.ts"

const LANGUAGES = { bash, cs: csharp, go, java, json, php, py: python, rb: ruby, ts: typescript }

hljs.configure({ classPrefix: "" })
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language)

/** Marks the parts of code with classes, by its file's name; without one it is JSON or commands. */
export const highlight = (label: string, text: string): Html => {
  const [, extension = ""] = /\.(\w+)$/.exec(label) ?? []
  const language = Object.hasOwn(LANGUAGES, extension) ? extension : /^[{[]/.test(text) ? "json" : "bash"
  const { value } = hljs.highlight(text, { language })
  // No style names these.
  return new Html(value.replaceAll(/<span class="(?:punctuation|operator|params)">([^<]*)<\/span>/g, "$1"))
}
