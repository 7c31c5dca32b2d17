using System;
using System.Linq;
using System.Text;

static class Run
{
    static void Main()
    {
        for (string line; (line = Console.ReadLine()) != null;)
        {
            var fields = line.Split('\t');
            var header = fields[0] == "-" ? null : Encoding.UTF8.GetString(Convert.FromBase64String(fields[0]));
            var secrets = fields[2] == "-" ? new string[0] : fields[2].Split(',').Select(Text).ToArray();
            var accepted = WebhookSignature.Verify(header, Convert.FromBase64String(fields[1]), secrets, long.Parse(fields[3]));
            Console.WriteLine(accepted ? "accepted" : "refused");
        }
    }

    static string Text(string base64)
    {
        return Encoding.UTF8.GetString(Convert.FromBase64String(base64));
    }
}
