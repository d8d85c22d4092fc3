// SPDX-License-Identifier: MIT

// A client in Go: another implementation of gRPC, with flow control, PING and
// header habits of its own. It learns the API by reflection, puts, gets and
// completes, and says what does not hold.
//
// usage: grpc_go HOST:PORT
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/encoding/gzip"
	health "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	reflection "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

const service = "/urlfrontier.URLFrontier/"

var (
	conn *grpc.ClientConn
	api  protoreflect.FileDescriptor
	ctx  = context.Background()
)

func must(err error) {
	if err != nil {
		fmt.Println("FAILED", err)
		os.Exit(1)
	}
}

func want(ok bool, what string, args ...any) {
	if !ok {
		must(fmt.Errorf(what, args...))
	}
}

// A message of the API from its JSON form; "" is an empty one.
func message(name, text string) *dynamicpb.Message {
	d := api.Messages().ByName(protoreflect.Name(name))
	want(d != nil, "no message %s", name)
	m := dynamicpb.NewMessage(d)
	if text != "" {
		must(protojson.Unmarshal([]byte(text), m))
	}
	return m
}

func field(m *dynamicpb.Message, name string) protoreflect.Value {
	return m.Get(m.Descriptor().Fields().ByName(protoreflect.Name(name)))
}

func learn() {
	stream, err := reflection.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
	must(err)
	must(stream.Send(&reflection.ServerReflectionRequest{
		MessageRequest: &reflection.ServerReflectionRequest_FileContainingSymbol{
			FileContainingSymbol: "urlfrontier.URLFrontier"}}))
	answer, err := stream.Recv()
	must(err)
	files := answer.GetFileDescriptorResponse().GetFileDescriptorProto()
	want(len(files) == 1, "%d files", len(files))
	var file descriptorpb.FileDescriptorProto
	must(proto.Unmarshal(files[0], &file))
	api, err = protodesc.NewFile(&file, nil)
	must(err)
	must(stream.CloseSend())
	_, err = stream.Recv()
	want(err == io.EOF, "reflection ends with %v", err)
}

func invoke(method, in, text, out string, options ...grpc.CallOption) *dynamicpb.Message {
	m := message(out, "")
	must(conn.Invoke(ctx, service+method, message(in, text), m, options...))
	return m
}

func open(method string, options ...grpc.CallOption) grpc.ClientStream {
	s, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true},
		service+method, options...)
	must(err)
	return s
}

// Puts n URLs while acknowledgements come; how many were new.
func put(crawl string, n int, options ...grpc.CallOption) int {
	s := open("PutURLs", options...)
	var sender sync.WaitGroup
	sender.Add(1)
	go func() {
		defer sender.Done()
		for i := 0; i < n; i++ {
			must(s.SendMsg(message("URLItem", fmt.Sprintf(
				`{"ID":"%d","discovered":{"info":{"url":"http://h%d/%d","key":"h%d","crawlID":"%s","metadata":{"n":{"values":["%d"]}}}}}`,
				i, i%10, i, i%10, crawl, i))))
		}
		must(s.CloseSend())
	}()
	ok := 0
	for i := 0; i < n; i++ {
		ack := message("AckMessage", "")
		must(s.RecvMsg(ack))
		want(field(ack, "ID").String() == fmt.Sprint(i), "ack %d is %v", i, ack)
		if field(ack, "status").Enum() == 0 {
			ok++
		}
	}
	sender.Wait()
	want(errors.Is(s.RecvMsg(message("AckMessage", "")), io.EOF), "more acks than URLs")
	return ok
}

func get(text string) []*dynamicpb.Message {
	s, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, service+"GetURLs")
	must(err)
	must(s.SendMsg(message("GetParams", text)))
	must(s.CloseSend())
	var got []*dynamicpb.Message
	for {
		m := message("URLInfo", "")
		err := s.RecvMsg(m)
		if errors.Is(err, io.EOF) {
			return got
		}
		must(err)
		got = append(got, m)
	}
}

func complete(urls []*dynamicpb.Message) {
	s := open("PutURLs")
	for _, u := range urls {
		item := message("URLItem", `{"known":{}}`)
		known := item.Mutable(item.Descriptor().Fields().ByName("known")).Message()
		known.Set(known.Descriptor().Fields().ByName("info"), protoreflect.ValueOfMessage(u))
		must(s.SendMsg(item))
		ack := message("AckMessage", "")
		must(s.RecvMsg(ack))
		want(field(ack, "ID").String() == field(u, "url").String(), "ack %v", ack)
	}
	must(s.CloseSend())
}

func main() {
	var err error
	conn, err = grpc.Dial(os.Args[1],
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, PermitWithoutStream: true}))
	must(err)
	answer, err := health.NewHealthClient(conn).Check(ctx, &health.HealthCheckRequest{})
	must(err)
	want(answer.Status == health.HealthCheckResponse_SERVING, "health is %v", answer)
	learn()

	want(put("go", 20000) == 20000, "not all URLs were new")
	want(put("go", 20000, grpc.UseCompressor("gzip")) == 0, "URLs were new twice")
	var streams sync.WaitGroup
	for i := 0; i < 8; i++ {
		streams.Add(1)
		go func() {
			defer streams.Done()
			put("go2", 5000)
		}()
	}
	streams.Wait()
	stats := invoke("GetStats", "QueueWithinCrawlParams", `{"crawlID":"go2"}`, "Stats")
	want(field(stats, "size").Uint() == 5000, "8 streams of the same URLs: %v", stats)

	urls := get(`{"crawlID":"go","max_urls_per_queue":20,"max_queues":5}`)
	want(len(urls) == 100, "got %d URLs", len(urls))
	complete(urls)
	stats = invoke("GetStats", "QueueWithinCrawlParams", `{"crawlID":"go"}`, "Stats")
	want(field(stats, "size").Uint() == 19900, "after 100 were completed: %v", stats)

	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	s, err := conn.NewStream(short, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, service+"PutURLs")
	if err == nil { // else it was over before the call began
		err = s.RecvMsg(message("AckMessage", ""))
	}
	want(status.Code(err) == codes.DeadlineExceeded, "after the deadline: %v", err)
	err = conn.Invoke(ctx, service+"Nothing", message("Empty", ""), message("Empty", ""))
	want(status.Code(err) == codes.Unimplemented, "unknown method: %v", err)
	deleted := invoke("DeleteCrawl", "DeleteCrawlMessage", `{"value":"go"}`, "Long")
	want(field(deleted, "value").Uint() == 20000, "deleted %v", deleted)
	must(conn.Close())
	fmt.Println("a client in Go: 80,000 puts, gets and the rest hold")
}
