import type { MailOutcome } from "@outreach/domain/mail/Transport"

export type Verdict = Extract<MailOutcome, { _tag: "Bounced" | "Deferred" }> | { readonly _tag: "Refused" }

const bounced = (reason: Extract<MailOutcome, { _tag: "Bounced" }>["reason"]): Verdict => ({ _tag: "Bounced", reason })
const deferred: Verdict = { _tag: "Deferred" }
const refused: Verdict = { _tag: "Refused" }

/** Verdicts of enhanced status codes (RFC 3463, RFC 5248, RFC 7372), complete or their first two parts. For other codes, the words decide. */
export const BY_STATUS: Readonly<Record<string, Verdict>> = {
  "5.1.1": bounced("mailbox_not_found"),
  "5.1.2": bounced("domain_not_found"),
  "5.1.3": bounced("address_invalid"),
  "5.1.6": bounced("mailbox_not_found"), // moved without a forwarding address
  "5.1.7": refused, // our sender's address
  "5.1.8": refused,
  "5.2.1": bounced("mailbox_disabled"),
  "5.2.2": deferred, // full
  "5.2.3": refused, // our message's length
  "5.3.4": refused,
  "5.4.4": bounced("domain_not_found"),
  "5.4.7": deferred, // delivery time expired
  "5.5.3": deferred, // too many recipients
  "5.6": refused, // our message's content
  "5.7": refused,
}

/** Verdicts of codes about the mail system and the network, if the words don't decide. */
export const BY_WEAK_STATUS: Readonly<Record<string, Verdict>> = { "5.3": deferred, "5.4": deferred }

/** Verdicts of reply codes without a word, in reply to RCPT TO (RFC 5321, RFC 7504). */
export const BY_CODE: Readonly<Record<number, Verdict>> = {
  501: bounced("address_invalid"),
  550: bounced("mailbox_not_found"),
  552: deferred, // full
  553: bounced("address_invalid"),
  556: bounced("domain_not_found"),
}

const anyOf = (...words: ReadonlyArray<string>) => words.join("|")
/** Matches two groups of words near each other, in either order, within a sentence. */
const near = (one: string, other: string) =>
  `(?:${one})(?:(?!\\. )[^;]){0,40}?(?:${other})|(?:${other})(?:(?!\\. )[^;]){0,25}?(?:${one})`
export type Rule = readonly [RegExp, Verdict]
const rule = (verdict: Verdict, ...words: ReadonlyArray<string>): Rule => [new RegExp(anyOf(...words), "iu"), verdict]

// All words are lower case without accents, as `readWords` returns them.
const MAILBOX = anyOf(
  "\\busers?\\b|user ?(?:name|id)|account|(?:mail|in)\\s?box|recipient|rcpt\\b|addres|alias|customer|persona?\\b|local[- ]part",
  "destinatai?r|utilisateur|compte|adres|boite|usua?rio|cuenta|buzon|direccion|casilla|conta\\b|caixa|endereco|utente|casella|indirizzo",
  "benutzer|empfanger|postfach|konto|gebruiker|ontvanger|postbus|uzytkowni|skrzynk|odbiorc|uzivatel|schrank|anvandar|mottag|mottaker|kullanici|alici",
  "пользовател|ящик|адрес|получател|учетн|用户|用戶|邮箱|郵箱|收件人|帐号|账号|宛先|ユーザ|アドレス|メールボックス|사용자|수신자",
)
const UNKNOWN = anyOf(
  "unknown|unav\\w*able|not (?:be )?found|not known|no longer|exists? not|(?:not|n.t|dont|no|nao|non|nie|ne) ?(?:currently )?(?:exist|esiste|istnieje)|invalid|illegal|non-?existent",
  "not (?:an? |our |in (?:our|my|the) )*(?:valid|known|active|registered|recogni[sz]ed|listed|local|present|customer|directory|list)|unrecogni[sz]ed|undeliverable address|unrout(?:e)?able|wrong",
  "inconnu|introuvable|non repertorie|no se encuentra|ine[xs]ist|n.existe|n.est pas valide|desconocid|desconhecid|no encontrad|nao encontrad|no (?:es )?valid|sconosciut|non trovat|non valid",
  "unbekannt|existiert nicht|nicht (?:gefunden|bekannt|vorhanden)|ungultig|onbekend|bestaat niet|niet gevonden|ongeldig|nie ma|nieznan|neznam|neexistuj|okand|ukendt|ukjent|finn?e?s (?:inte|ikke)|bulunamadi",
  "не (?:наиден|существ)|неизвест|нет такого|不存在|未找到|找不到|无效|存在しま|見つかりま|不明|없|않",
)
const DISABLED = anyOf(
  "disabled|suspend|inactive|deactivat|discontinued|expired|closed|locked|frozen|terminated|cancell?ed|archiv|not active",
  "no longer (?:available|accept|active|in use|valid)|desactiv|deshabilitad|disabilitat|suspendid|deaktiviert|отключ|удален|停用|禁用|冻结",
)
const DOMAIN = "domain|hosts?\\b|domaine|dominio"

/**
 * Verdicts of words; the first match decides. Milder verdicts than a hard bounce come first, because a hard bounce suppresses the address for
 * the whole organization: time, us as the sender, rate, space and the server's own trouble. Loose words count only near a word for the mailbox.
 */
export const MILD_RULES: ReadonlyArray<Rule> = [
  rule(
    deferred,
    "(?:message|delivery|queue|connection)\\W(?:has |time )?expired|too long|tim(?:ed?|e)[- ]?out|time limit|retry t|been failing|(?:try|tried) (?:\\w+ )?(?:again )?later",
    "(?<!address and |spelling and )try again|\\blater\\b|temporar|grey-?list|in the queue|for more than|lost connection|connection (?:refused|reset|lost|closed|dropped)",
    "not (?:be )?(?:connect|contact)|unable to (?:connect|contact)|able to establish|no route to host|host (?:is )?(?:down|unreachable)|plus tard|mas tarde|mais tarde|piu tardi|spater",
  ),
  rule(
    refused,
    "spam|unsolicited|\\bube\\b|bulk (?:e-?)?mail|(?:black|block|deny|bad|reject)[- ]?list|\\bdns?[bw]l|\\brbl|reputation|phish|virus|malware|abus|complain|suspicious|suspected|junk|backscatter",
    "polic(?:y|ies)|\\b(?:spf|dkim|dmarc|ptr|r ?dns|helo|ehlo|tls|ips?)\\b|reverse dns|authenti(?:c|f)|authori[sz]|permission|prohibit|forbidden|firewall",
    "(?:not|unable|denied|cannot|can.t|refused?) (?:\\w+ )?to relay|relay(?:ing)? (?:\\w+ )?(?:denied|not|prohibited|refused)|open relay|\\brelaying|(?<!bad |valid)rcpthosts",
    "sender|mail from|from:? (?:address|header|domain|field)|resent-from|return[- ]path|emetteur|expediteur|remitente|remetente|mittente|absender|отправител|发件",
    "your (?:server|host|network|domain|access|isp|e?mail (?:is|was|has)|message (?:is|was|has been|contain|look))|client (?:host|address)|(?:sending|source) (?:host|server|mta|domain)",
    "(?:has|have) (?:sent|exceeded the max)|sent too many|this hour|too many (?:invalid|unknown|bad|errors|spam)|go away|not welcome|dynamic",
    "block(?!age)|banned|(?<!rejected: access )denied|refus|rejet|rechaz|bloque|rejeitad|rifiutat|abgelehnt|verweigert|заблокир|отклон|спам|拒|垃圾|迷惑|スパム",
    "(?:message|mail|mails|connection|session|command|transaction|envelope|content)s? (?:\\w+ ){0,2}rejected|rejected (?:due|because|for|message|as)|not accept\\w* (?:any )?(?:\\w+ )?(?:e-?mails?|messages?) from",
    "content (?:\\w+ )?(?:reject|denied|filter|block|judg|error|policy)|(?:message|banned) content|attachment|duplicate header|header (?:error|size)|bare (?:lf|cr)|pipelining|protocol (?:error|violation)|(?:message|mail|e-?mail) (?:is )?(?:too|size|length|exceeds)|message (?:\\w+ )?size|too (?:large|big)",
    "subscri|members?[- ]only|non-?member|not (?:a )?member|moderat|accepting mail (?:with|from)|preferences|\\brules?\\b|filtered|captcha",
  ),
  rule(
    deferred,
    "receiving mail (?:at a rate|too)|rate (?:limit|that)|rate-?limit|throttl|too (?:many|fast|quickly|much)|frequency|\\blimit(?:s|ed)?\\b|trop de|slow(?:er)? ?down|slower|per (?:hour|day)|hourly|daily",
    "quota|(?:box|folder|system|disk|user|account|maildir|is|are) (?:\\w+ )?full\\b|full (?:mail)?box|mailboxfull|(?:in|not )?(?:sufficient|enough) (?:\\w+ )*?(?:space|storage)|(?:out of|disk|storage) ?space|storage|space has been|exceed",
    "pleine|depass|llen[oa]\\b|cuota|cheia|cota\\b|pien[oa]\\b|superat|voll\\b|\\bvol\\b|uberschr|przepeln|prekroc|переполн|превыш|已满|已滿|空间不足|いっぱい|容量",
    "(?:internal|system|server|configuration|software|local|config|ldap|database|directory|lookup|name server|mailer|transport|processing|protocol) (?:\\w+ )?(?:error|fail|unavailable|down|busy|reply)",
    "error (?:in|while) processing|service (?:is )?(?:currently |temporarily )*(?:un|not )available|service refus|misconfigur|configur|command (?:died|failed|output|time)|no such file|pipe to|local delivery failed|dns (?:check|lookup|server|timeout)",
    "name server reply|\\bloop|\\bhops?\\b|queue file|maintenance|not operational|can.t create|cannot (?:open|create|update)|(?:temporary|permanent) error while|system is (?:down|not)",
  ),
]

/** Verdicts of words about the recipient, and of rejections without such words. */
export const MAILBOX_RULES: ReadonlyArray<Rule> = [
  rule(
    bounced("domain_not_found"),
    "null mx|\\bno mx\\b|does not accept (?:any )?(?:e-?)?mail|no (?:e-?)?mail (?:is )?accepted|no smtp service|address lookups failed permanently|point to non-?existent hosts|couldn.t find any host",
    "no such (?:\\w+ )?(?:domain|host)|(?:unknown|unrout(?:e)?able|non-?existent) (?:mail ?)?(?:domain|host)|(?:unroute|unrout)able mail domain|name or service not known|no address associated|domain (?:is not reachable|must exist)",
    `\\b(?:${DOMAIN})(?: or domain)?(?: name)?(?: \\S+)? (?:is |was )?(?:not (?:be )?found|unknown|does ?n.t exist|does not exist|not exist|non-?existent|inconnu|inexistant)`,
  ),
  rule(bounced("mailbox_disabled"), near(MAILBOX, DISABLED)),
  rule(
    bounced("address_invalid"),
    "(?:bad|malformed|illegal) (?:\\w+ ){0,2}(?:address|recipient)|(?:address|recipient|rcpt to|rcpt) (?:\\w+ ){0,2}(?:syntax|malformed)|syntax (?:\\w+ ){0,4}(?:address|recipient|mailbox)|invalid address format|malformed address|fully[- ]qualified|restricted characters",
  ),
  rule(
    bounced("mailbox_not_found"),
    `no (?:such |valid |existe (?:ese |dicha |el )?|e-?mail )?(?:${MAILBOX})`,
    near(MAILBOX, UNKNOWN),
    "recip\\w*notfound|no one at|may not exist|(?:does ?n.t|does not) have an? (?:\\S+ )?account|bad_?rcptto|badrecipientto|validrcptto|recipient address rejected: access denied|not our customer",
    "nessun utente|nobody (?:here )?by|no longer on server|has been replaced by|(?:address|recipient|user|mailbox) rejected\\.?(?: <?address>?)?(?: \\(in reply.*)?$",
  ),
  rule(refused, "reject|not (?:\\w+ )?(?:allow|permit|accept)|declin|disallow"),
]
