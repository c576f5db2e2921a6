package shared

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
)

// Config is the part of cpi.json that this CPI reads.
type Config struct {
	Tiny     struct{ Dir string }
	Registry *Registry
	Debug    struct {
		CPI struct {
			APIVersion int `json:"api_version"`
		}
	}
}

// Request is one call.
type Request struct {
	Method     string
	Arguments  []json.RawMessage
	APIVersion int `json:"api_version"`
	Context    struct {
		VM struct {
			Stemcell struct {
				APIVersion int `json:"api_version"`
			}
		}
	}
}

// Args reads all arguments; a call with fewer or more is refused.
func (r Request) Args(into ...any) error {
	if len(r.Arguments) != len(into) {
		return Fail("CpiError", "%s takes %d arguments, got %d", r.Method, len(into), len(r.Arguments))
	}
	for at, target := range into {
		if err := json.Unmarshal(r.Arguments[at], target); err != nil {
			return Fail("CpiError", "argument %d of %s: %s", at, r.Method, err)
		}
	}
	return nil
}

// Serve answers the one request on standard input.
func Serve(call func(Config, Request) (any, error)) {
	result, err := handle(call)
	reply := map[string]any{"result": result, "error": nil, "log": ""}
	if err != nil {
		failure := Error{"Bosh::Clouds::CloudError", err.Error()}
		errors.As(err, &failure)
		reply["result"] = nil
		reply["error"] = map[string]any{"type": failure.Type, "message": failure.Message, "ok_to_retry": false}
	}
	_ = json.NewEncoder(os.Stdout).Encode(reply)
}

func handle(call func(Config, Request) (any, error)) (any, error) {
	path := flag.String("configFile", "cpi.json", "configuration")
	flag.Parse()
	content, err := os.ReadFile(*path)
	if err != nil {
		return nil, err
	}
	var file struct{ Cloud struct{ Properties Config } }
	if err := json.Unmarshal(content, &file); err != nil {
		return nil, err
	}
	var request Request
	if err := json.NewDecoder(os.Stdin).Decode(&request); err != nil {
		return nil, Fail("CpiError", "not a request: %s", err)
	}
	if request.Method == "" || request.Arguments == nil {
		return nil, Fail("CpiError", "a request has a method and a list of arguments")
	}
	return call(file.Cloud.Properties, request)
}
