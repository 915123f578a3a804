// Run it with: SIGNING_KEY=... dotnet run --project Payments --urls http://127.0.0.1:8080
using Payments;

var app = WebApplication.Create(args);
var messages = Environment.GetEnvironmentVariable("MESSAGES") ?? "messages";
new Receiver(Environment.GetEnvironmentVariable("SIGNING_KEY"), messages, message =>
{
    Console.WriteLine($"{message.GetProperty("event_type")} of payment {message.GetProperty("resource_id")}");
    return Task.CompletedTask;
}).Map(app, "/");
app.Run();
