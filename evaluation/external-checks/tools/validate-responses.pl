# Calls each GET operation of an OpenAPI 3.0 document with the Perl module OpenAPI::Client, with the examples of required
# parameters, and validates each response. Prints one JSON object. The environment variable ITSM_KEY contains the API key.
# Usage: perl validate-responses.pl <address of the document> <base address of the API>
use strict;
use warnings;
use Mojo::JSON qw(encode_json);
use Mojo::URL;
use OpenAPI::Client;

my ($document, $base) = @ARGV;
my $client = OpenAPI::Client->new($document, base_url => Mojo::URL->new($base));
$client->ua->on(start => sub { $_[1]->req->headers->authorization("Bearer $ENV{ITSM_KEY}") });
my $schema = $client->validator;

my ($checks, @findings) = (0);
for my $route (@{$schema->routes}) {
  my ($method, $path, $id) = @$route{qw(method path operation_id)};
  next if $method ne 'get';
  $checks++;
  my %params;
  for my $parameter (@{$schema->parameters_for_request([$method, $path])}) {
    next if !$parameter->{required};
    $params{$parameter->{name}} = $parameter->{example} // $parameter->{schema}{example};
  }
  my $tx = $client->call($id, \%params);
  my $response = $tx->res;
  my @errors = $response->is_success ? () : ($response->body);
  # The module reads only bodies in JSON, and doesn't find headers that a response only references.
  if (!@errors && ($response->headers->content_type // '') =~ /json/) {
    my %parts = (
      body   => sub { {content_type => 'application/json', exists => 1, value => $response->json} },
      header => sub { {exists => 0} },
    );
    @errors = $schema->validate_response([$method, $path, $response->code], \%parts);
  }
  push @findings, map { {rule => $id, message => "$_"} } @errors ? $errors[0] : ();
}
print encode_json({version => OpenAPI::Client->VERSION, checks => $checks, findings => \@findings});
