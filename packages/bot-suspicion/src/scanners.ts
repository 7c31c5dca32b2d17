/** Software that names itself in `User-Agent` and is not a mail client of a person. */
export interface ScannerAgent {
  readonly name: string
  readonly pattern: RegExp
  /** Where it is described or was seen. */
  readonly source: string
}

/** Addresses from which mail is filtered, and no mail is read. */
export interface ScannerNetwork {
  readonly name: string
  readonly ranges: readonly string[]
  /** Where the ranges are published or were seen. */
  readonly source: string
}

const CRAWLERS = "https://github.com/monperrus/crawler-user-agents"
const FIELD_GUIDE = "https://check.live-direct-marketing.online/blog/bot-clicks-security-scanners-detect"

/**
 * Scanners, previewers and programs by their names.
 *
 * Not here, because a person reads the mail: Outlook itself (`Microsoft Outlook 16.0`, `ms-office`), image proxies (GoogleImageProxy,
 * YahooMailProxy), and okhttp, CFNetwork and Dalvik, with which mail apps of phones load images. Phones called CUBOT are no bots.
 */
export const AGENTS: readonly ScannerAgent[] = [
  // Scanners of mail and links.
  { name: "Barracuda", pattern: /barracuda/i, source: FIELD_GUIDE },
  { name: "Proofpoint", pattern: /proofpoint/i, source: FIELD_GUIDE },
  { name: "Mimecast", pattern: /mimecast/i, source: FIELD_GUIDE },
  { name: "Cisco Secure Email", pattern: /ciscosecureemail|ironport/i, source: FIELD_GUIDE },
  { name: "Trend Micro", pattern: /\btmes\b|trend ?micro/i, source: FIELD_GUIDE },
  { name: "FortiMail", pattern: /fortimail/i, source: FIELD_GUIDE },
  {
    name: "Google Safety",
    pattern: /google-safety/i,
    source: "https://developers.google.com/search/docs/crawling-indexing/overview-google-crawlers",
  },
  { name: "VirusTotal", pattern: /virustotal/i, source: "https://www.virustotal.com/gui/home/url" },
  {
    name: "Splunk Attack Analyzer",
    pattern: /twinwave/i,
    source: "https://www.splunk.com/en_us/products/attack-analyzer.html",
  },
  { name: "Cloudflare Radar", pattern: /cloudflare-?radar/i, source: "https://radar.cloudflare.com" },
  { name: "Netcraft", pattern: /netcraft/i, source: CRAWLERS },

  // Previews of links.
  { name: "Skype and Teams", pattern: /skypeuripreview/i, source: CRAWLERS },
  {
    name: "Microsoft and Bing preview",
    pattern: /(?:microsoft|bing)preview/i,
    source: "https://www.bing.com/webmasters/help/which-crawlers-does-bing-use-8c184ec0",
  },
  {
    name: "Yahoo Link Preview",
    pattern: /yahoo link preview/i,
    source: "https://help.yahoo.com/kb/mail/yahoo-link-preview-SLN23615.html",
  },
  { name: "Google Web Preview", pattern: /google web preview/i, source: CRAWLERS },
  {
    name: "Facebook",
    pattern: /facebookexternalhit|facebookcatalog|meta-externalagent/i,
    source: "https://developers.facebook.com/docs/sharing/webmasters/crawler/",
  },
  { name: "WhatsApp", pattern: /^whatsapp/i, source: "https://www.whatsapp.com/" },
  { name: "Slack", pattern: /slack-imgproxy/i, source: "https://api.slack.com/robots" },
  {
    name: "Snapchat",
    pattern: /snap url preview|snapurlpreview/i,
    source: "https://business.snapchat.com/legal/snapchat-automated-crawler",
  },
  { name: "Embedly", pattern: /embedly/i, source: "http://support.embed.ly" },
  { name: "Iframely", pattern: /iframely/i, source: "https://iframely.com/docs/about" },
  { name: "previews and unfurlers", pattern: /link-?preview|page-?preview|unfurl/i, source: CRAWLERS },
  {
    name: "Microsoft Office discovery",
    pattern: /microsoft office (?:existence|protocol) discovery/i,
    source: "https://learn.microsoft.com/en-us/archive/blogs/vsofficedeveloper/microsoft-office-existence-discovery",
  },

  // Browsers without anybody before them.
  {
    name: "headless Chrome",
    pattern: /headlesschrome/i,
    source: "https://developers.google.com/web/updates/2017/04/headless-chrome",
  },
  { name: "PhantomJS", pattern: /phantomjs/i, source: "http://phantomjs.org/" },
  {
    name: "Lighthouse",
    pattern: /chrome-lighthouse/i,
    source: "https://developers.google.com/speed/pagespeed/insights",
  },

  // Programs.
  { name: "curl", pattern: /^curl|libcurl|php-curl/i, source: "https://curl.se/" },
  { name: "Wget", pattern: /^wget/i, source: "https://www.gnu.org/software/wget/" },
  { name: "Python", pattern: /^python|python-(?:requests|urllib|httpx)|aiohttp\//i, source: CRAWLERS },
  { name: "Go", pattern: /^go-http-client|^go ?[\d.]+ package http/i, source: "https://pkg.go.dev/net/http" },
  { name: "Perl", pattern: /libwww-perl|lwp::/i, source: CRAWLERS },
  { name: "Java", pattern: /^java\/|^apache-httpclient|^jakarta commons/i, source: CRAWLERS },
  { name: "Ruby", pattern: /^ruby|^faraday/i, source: CRAWLERS },
  { name: "Node", pattern: /^axios|^node-fetch|^undici|^node$|^got /i, source: CRAWLERS },

  // All others that call themselves bots, or tell webmasters where to ask.
  {
    name: "bots by their own account",
    pattern: /(?<!cu)bots?(?![a-z])|crawl|spider|link ?check|url ?scan/i,
    source: CRAWLERS,
  },
  { name: "programs with a contact", pattern: /\+ ?(?:https?:|mailto:|www\.|[\w.]+@)/i, source: CRAWLERS },
]

/** Networks of services that filter mail. Clouds in general are not among them: people work in those too. */
export const NETWORKS: readonly ScannerNetwork[] = [
  {
    // Those of Exchange Online are left out: Outlook on the web loads images from there when a person opens a message.
    name: "Microsoft Defender for Office 365",
    ranges: [
      "40.92.0.0/15",
      "40.107.0.0/16",
      "52.100.0.0/14",
      "52.238.78.88/32",
      "104.47.0.0/17",
      "2a01:111:f400::/48",
      "2a01:111:f403::/48",
    ],
    source: "https://learn.microsoft.com/en-us/microsoft-365/enterprise/urls-and-ip-address-ranges (ids 9 and 10)",
  },
  {
    name: "Microsoft Safe Links",
    ranges: ["40.94.0.0/16"],
    source: "https://github.com/MicrosoftDocs/OfficeDocs-Enterprise/issues/544",
  },
  {
    name: "Barracuda Email Gateway Defense",
    ranges: ["64.235.144.0/20", "209.222.80.0/21"],
    source: "https://campus.barracuda.com/product/emailgatewaydefense/doc/96023004/ip-analysis-inbound/",
  },
  {
    name: "Proofpoint",
    ranges: ["62.209.50.0/24", "67.231.144.0/20", "91.209.104.0/24", "208.84.64.0/22", "208.86.200.0/22"],
    source: "https://proofpoint.my.site.com/support/PPSup_SupportInfo",
  },
  {
    name: "Mimecast",
    ranges: [
      "91.220.42.0/24",
      "146.101.78.0/24",
      "170.10.128.0/24",
      "170.10.129.0/24",
      "170.10.132.0/24",
      "170.10.133.0/24",
      "195.130.217.0/24",
      "205.139.110.0/24",
      "205.139.111.0/24",
      "207.82.80.0/24",
      "207.211.30.0/24",
      "207.211.31.0/25",
      "216.205.24.0/24",
    ],
    source: "https://mimecastsupport.zendesk.com/hc/en-us (Mimecast Data Centers and URLs)",
  },
  {
    name: "Trend Micro",
    ranges: ["150.70.0.0/16", "216.104.0.0/19"],
    source: "https://serverfault.com/questions/138240/strange-iis-hits-originating-from-trend-micro",
  },
]
